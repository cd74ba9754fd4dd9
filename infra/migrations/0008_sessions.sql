-- Where a run comes from, and whether what starts it are its user's own words (AG-16).
ALTER TABLE run ADD COLUMN session_id text NOT NULL DEFAULT 'workspace';
ALTER TABLE run ADD COLUMN trusted boolean NOT NULL DEFAULT true;
-- Triggers are never trusted, whatever the code says.
ALTER TABLE run ADD CONSTRAINT run_trigger_untrusted CHECK (
    NOT (trusted AND (session_id = 'email_trigger' OR starts_with(session_id, 'event_'))));
