-- The workspace: mandates (tenants), files, conversations, runs with their event log, tool calls and the ledger.
--
-- Isolation is the database's job. Every session of the functions sets werkbank.user_id, werkbank.mandate_id and
-- werkbank.roles for its one transaction; the policies below read them. With none set, every policy is false.
-- The functions log in as werkbank_app, which owns nothing and cannot bypass row-level security.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE SCHEMA werkbank;
GRANT USAGE ON SCHEMA werkbank TO werkbank_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO werkbank_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO werkbank_app;

CREATE FUNCTION werkbank.mandate_id() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('werkbank.mandate_id', true), '');
CREATE FUNCTION werkbank.user_id() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('werkbank.user_id', true), '');
CREATE FUNCTION werkbank.has_role(role text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
    RETURN role = ANY (string_to_array(coalesce(current_setting('werkbank.roles', true), ''), ','));

-- Mandates ------------------------------------------------------------------------------------------------------------

-- spent and reserved are running sums of billing_transaction, so that a preflight is one conditional update.
CREATE TABLE mandate (
    id text PRIMARY KEY,
    limit_chf numeric(14, 6),
    spent_chf numeric(14, 6) NOT NULL DEFAULT 0,
    reserved_chf numeric(14, 6) NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE feature_instance (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    feature_code text NOT NULL,
    label text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE feature_instance_member (
    instance_id uuid NOT NULL REFERENCES feature_instance ON DELETE CASCADE,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    PRIMARY KEY (instance_id, user_id)
);

-- Files ---------------------------------------------------------------------------------------------------------------

CREATE TABLE file_folder (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    parent_id uuid REFERENCES file_folder ON DELETE CASCADE,
    name text NOT NULL CHECK (name <> '' AND name !~ '[/\\]'),
    auto_rule text,
    neutralize boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (mandate_id, user_id, parent_id, name)
);

CREATE TABLE file_item (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    instance_id uuid REFERENCES feature_instance,
    folder_id uuid REFERENCES file_folder ON DELETE SET NULL,
    file_name text NOT NULL CHECK (file_name <> ''),
    mime_type text NOT NULL,
    size bigint NOT NULL,
    hash text,
    object_key text NOT NULL,
    tags text[] NOT NULL DEFAULT '{}',
    description text NOT NULL DEFAULT '',
    scope text NOT NULL DEFAULT 'personal' CHECK (scope IN ('personal', 'featureInstance', 'mandate', 'global')),
    neutralize boolean NOT NULL DEFAULT false,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'extracted', 'embedding', 'indexed', 'failed')),
    status_reason text,
    index_run_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (scope <> 'featureInstance' OR instance_id IS NOT NULL)
);
CREATE INDEX file_item_owner ON file_item (mandate_id, user_id, folder_id);
-- What everyone sees; with it a search under row-level security need not read the files of all mandates.
CREATE INDEX file_item_global ON file_item (id) WHERE scope = 'global';

-- Conversations and runs ----------------------------------------------------------------------------------------------

CREATE TABLE workflow (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    instance_id uuid REFERENCES feature_instance,
    title text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX workflow_owner ON workflow (mandate_id, user_id, updated_at DESC);

-- A run is one piece of work that reports through events: an agent answering (kind agent) or a file being indexed.
-- last_seq numbers its events without gaps; spent and reserved are running sums as in mandate.
CREATE TABLE run (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    workflow_id uuid REFERENCES workflow ON DELETE CASCADE,
    file_id uuid REFERENCES file_item ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('agent', 'index')),
    status text NOT NULL DEFAULT 'running' CHECK (status IN
        ('running', 'completed', 'maxRoundsReached', 'budgetExceeded', 'stopped', 'error')),
    config jsonb NOT NULL DEFAULT '{}',
    roles text[] NOT NULL DEFAULT '{}',
    zone text NOT NULL DEFAULT 'UTC',
    language text NOT NULL DEFAULT 'en',
    rounds integer NOT NULL DEFAULT 0,
    last_seq integer NOT NULL DEFAULT 0,
    max_cost_chf numeric(14, 6),
    spent_chf numeric(14, 6) NOT NULL DEFAULT 0,
    reserved_chf numeric(14, 6) NOT NULL DEFAULT 0,
    abort_reason text,
    started_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    CHECK ((kind = 'agent') = (workflow_id IS NOT NULL)),
    CHECK ((kind = 'index') = (file_id IS NOT NULL))
);
CREATE INDEX run_workflow ON run (workflow_id, started_at);
CREATE INDEX run_file ON run (file_id);

-- Only what a person or the model says. What tools answered stands in tool_call and is joined in the calls' order.
CREATE TABLE message (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    workflow_id uuid NOT NULL REFERENCES workflow ON DELETE CASCADE,
    run_id uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    round integer NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    role text NOT NULL CHECK (role IN ('user', 'assistant')),
    content text NOT NULL,
    context text,  -- what the model is told with a question: time, files, passages; fixed so that its prefix stays cached
    tool_calls jsonb NOT NULL DEFAULT '[]',
    provider_data jsonb,
    file_ids uuid[] NOT NULL DEFAULT '{}',
    citations jsonb NOT NULL DEFAULT '[]',
    partial boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (run_id, round, role)
);
CREATE INDEX message_workflow ON message (workflow_id, position);

-- One model call of a run as it went (AG-21).
CREATE TABLE round_log (
    run_id uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    round integer NOT NULL,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    attempts integer NOT NULL DEFAULT 1,
    model text,
    stop_reason text,
    input_tokens integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    cached_input_tokens integer NOT NULL DEFAULT 0,
    cost_chf numeric(14, 6) NOT NULL DEFAULT 0,
    duration_ms integer,
    started_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, round)
);

-- A call is claimed before its effect (AG-23): a claimed call that never finished has an unknown outcome.
CREATE TABLE tool_call (
    run_id uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    round integer NOT NULL,
    call_id text NOT NULL,
    position integer NOT NULL,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    name text NOT NULL,
    arguments text NOT NULL,
    status text NOT NULL DEFAULT 'requested' CHECK (status IN
        ('requested', 'claimed', 'succeeded', 'failed', 'unknown')),
    result text,
    duration_ms integer,
    claimed_at timestamptz,
    completed_at timestamptz,
    PRIMARY KEY (run_id, round, call_id)
);

-- The sources a run may cite, numbered as they came up: `[3]` in an answer is row (run, 3).
CREATE TABLE citation (
    run_id uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    number integer NOT NULL,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    chunk_id uuid NOT NULL,
    file_id uuid NOT NULL,
    file_name text NOT NULL,
    place text NOT NULL,
    quote text NOT NULL,
    ref jsonb NOT NULL,
    PRIMARY KEY (run_id, number),
    UNIQUE (run_id, chunk_id)
);

CREATE TABLE run_event (
    run_id uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    seq integer NOT NULL,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    type text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    data jsonb NOT NULL,
    PRIMARY KEY (run_id, seq)
);

-- The ledger outlives what it paid for, so it references nothing but the mandate.
CREATE TABLE billing_transaction (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    instance_id uuid,
    workflow_id uuid,
    run_id uuid,
    round integer,
    kind text NOT NULL,
    model text NOT NULL,
    status text NOT NULL DEFAULT 'reserved' CHECK (status IN ('reserved', 'settled', 'released')),
    reserved_chf numeric(14, 6) NOT NULL CHECK (reserved_chf >= 0),
    cost_chf numeric(14, 6) CHECK (cost_chf >= 0),
    input_tokens integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    cached_input_tokens integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    CHECK ((status = 'settled') = (cost_chf IS NOT NULL))
);
CREATE INDEX billing_transaction_run ON billing_transaction (run_id);
CREATE INDEX billing_transaction_reserved ON billing_transaction (mandate_id, created_at) WHERE status = 'reserved';
CREATE INDEX billing_transaction_mandate ON billing_transaction (mandate_id, created_at);
REVOKE DELETE ON billing_transaction FROM werkbank_app;
REVOKE UPDATE ON run_event FROM werkbank_app;

-- Row-level security --------------------------------------------------------------------------------------------------

-- The scalar subqueries make the planner read the settings once per statement instead of once per row.
ALTER TABLE mandate ENABLE ROW LEVEL SECURITY;
ALTER TABLE mandate FORCE ROW LEVEL SECURITY;
CREATE POLICY mandate_own ON mandate USING (id = (SELECT werkbank.mandate_id()));

ALTER TABLE feature_instance ENABLE ROW LEVEL SECURITY;
ALTER TABLE feature_instance FORCE ROW LEVEL SECURITY;
CREATE POLICY feature_instance_own ON feature_instance USING (mandate_id = (SELECT werkbank.mandate_id()));

ALTER TABLE feature_instance_member ENABLE ROW LEVEL SECURITY;
ALTER TABLE feature_instance_member FORCE ROW LEVEL SECURITY;
CREATE POLICY feature_instance_member_own ON feature_instance_member
    USING (mandate_id = (SELECT werkbank.mandate_id()) AND user_id = (SELECT werkbank.user_id()))
    WITH CHECK (mandate_id = (SELECT werkbank.mandate_id()) AND (SELECT werkbank.has_role('admin')));

ALTER TABLE file_item ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_item FORCE ROW LEVEL SECURITY;
CREATE POLICY file_item_read ON file_item FOR SELECT USING (
    scope = 'global'
    OR mandate_id = (SELECT werkbank.mandate_id()) AND (
        user_id = (SELECT werkbank.user_id())
        OR scope = 'mandate'
        OR scope = 'featureInstance' AND instance_id IN (SELECT instance_id FROM feature_instance_member)
    )
);
CREATE POLICY file_item_create ON file_item FOR INSERT WITH CHECK (
    mandate_id = (SELECT werkbank.mandate_id()) AND user_id = (SELECT werkbank.user_id())
    AND (scope = 'personal'
        OR scope = 'featureInstance' AND instance_id IN (SELECT instance_id FROM feature_instance_member)
        OR scope = 'mandate' AND (SELECT werkbank.has_role('admin'))
        OR scope = 'global' AND (SELECT werkbank.has_role('operator')))
);
-- A row that was shared stays its owner's to change; sharing it more widely needs the right (KS-02).
CREATE POLICY file_item_change ON file_item FOR UPDATE USING (
    mandate_id = (SELECT werkbank.mandate_id())
    AND (user_id = (SELECT werkbank.user_id()) OR scope <> 'personal' AND (SELECT werkbank.has_role('admin')))
) WITH CHECK (
    mandate_id = (SELECT werkbank.mandate_id())
    AND (scope IN ('personal', 'featureInstance')
        OR scope = 'mandate' AND (SELECT werkbank.has_role('admin'))
        OR scope = 'global' AND (SELECT werkbank.has_role('operator')))
);
CREATE POLICY file_item_remove ON file_item FOR DELETE USING (
    mandate_id = (SELECT werkbank.mandate_id())
    AND (user_id = (SELECT werkbank.user_id()) OR scope <> 'personal' AND (SELECT werkbank.has_role('admin')))
);

-- What belongs to one person of one mandate.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['file_folder', 'workflow', 'run', 'message', 'round_log', 'tool_call', 'citation',
                                'run_event'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY %I ON %I USING (mandate_id = (SELECT werkbank.mandate_id())
            AND user_id = (SELECT werkbank.user_id()))', name || '_own', name);
    END LOOP;
END $$;

-- Costs are everyone's business within a mandate: its limit is shared.
ALTER TABLE billing_transaction ENABLE ROW LEVEL SECURITY;
ALTER TABLE billing_transaction FORCE ROW LEVEL SECURITY;
CREATE POLICY billing_transaction_own ON billing_transaction USING (mandate_id = (SELECT werkbank.mandate_id()));
