-- Runs that go round in circles are stopped (AG-09), and a model may ask for more rounds (AG-08).

ALTER TABLE run DROP CONSTRAINT run_status_check;
ALTER TABLE run ADD CONSTRAINT run_status_check CHECK (status IN
    ('running', 'completed', 'maxRoundsReached', 'budgetExceeded', 'stalled', 'stopped', 'error'));
ALTER TABLE run ADD COLUMN extra_rounds integer NOT NULL DEFAULT 0;
