-- What a run's first round settles for all of them (AG-18): how demanding the question is, and the system prompt with
-- the skills in it. A run without one (begun by older code) gets it in its next round.
CREATE TABLE run_briefing (
    run_id uuid PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    complexity text NOT NULL CHECK (complexity IN ('simple', 'moderate', 'complex')),
    skills jsonb NOT NULL DEFAULT '[]',
    system_prompt text NOT NULL
);
ALTER TABLE run_briefing ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_briefing FORCE ROW LEVEL SECURITY;
CREATE POLICY run_briefing_own ON run_briefing
    USING (mandate_id = (SELECT werkbank.mandate_id()) AND user_id = (SELECT werkbank.user_id()));

-- A folder is seen by its owner alone, a shared file by everyone: what lies in the owner's folder "Skills" is a skill for
-- the others by its tag.
CREATE FUNCTION werkbank.tag_shared_skill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.scope = 'mandate' AND NOT 'skill' = ANY (NEW.tags)
       AND EXISTS (SELECT FROM public.file_folder WHERE id = NEW.folder_id AND name = 'Skills') THEN
        NEW.tags := NEW.tags || 'skill'::text;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER file_item_tag_shared_skill BEFORE INSERT OR UPDATE OF folder_id, scope ON file_item
    FOR EACH ROW EXECUTE FUNCTION werkbank.tag_shared_skill();
CREATE INDEX file_item_skill ON file_item (mandate_id) WHERE 'skill' = ANY (tags);

-- The model configurations that have answered (AG-13): the model as the registry described it, and the version of the
-- secret with keys and addresses; neither holds a key. The latest is what a broken change falls back to.
CREATE TABLE good_model (
    mandate_id text NOT NULL REFERENCES mandate,
    operation text NOT NULL,
    model_id text NOT NULL,
    model jsonb NOT NULL,
    keys_version text NOT NULL,
    answered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (mandate_id, operation, model_id)
);
ALTER TABLE good_model ENABLE ROW LEVEL SECURITY;
ALTER TABLE good_model FORCE ROW LEVEL SECURITY;
CREATE POLICY good_model_own ON good_model USING (mandate_id = (SELECT werkbank.mandate_id()));

-- The model that a round was meant for, where the last good one answered in its place.
ALTER TABLE round_log ADD COLUMN instead_of text;
