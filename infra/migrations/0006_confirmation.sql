-- A call that needs its user's consent waits for it on a task token of the state machine (AG-24).
ALTER TABLE tool_call ADD COLUMN task_token text;
ALTER TABLE tool_call ADD COLUMN approved boolean;
ALTER TABLE tool_call ADD COLUMN asked_at timestamptz;
CREATE INDEX tool_call_open_confirmation ON tool_call (run_id) WHERE task_token IS NOT NULL AND approved IS NULL;
