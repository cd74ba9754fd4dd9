-- How runs end: what a call did is kept even if its run is over by then, of two answers to a round one counts with all
-- that belongs to it, the mandate's limit leaves something for the closing text, and each run is remembered once.

-- Since when a run's findings are memories (AG-17): whoever finishes it and finds none makes them.
ALTER TABLE run ADD COLUMN remembered_at timestamptz;

-- Stores the outcome of a claimed call and tells of it; NULL where there is nothing to tell: another try has stored one
-- before, or the run has ended while the tool had its effect. What it did is kept then, too (AG-20).
CREATE OR REPLACE FUNCTION werkbank.complete_call(
    of_run uuid, of_round integer, of_call text, outcome text, call_result text, took_ms integer, told jsonb
) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tool_call SET status = outcome, result = call_result, duration_ms = took_ms, completed_at = clock_timestamp()
    WHERE run_id = of_run AND round = of_round AND call_id = of_call AND status = 'claimed';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    BEGIN
        RETURN werkbank.append_event(of_run, 'toolResult', told);
    EXCEPTION WHEN SQLSTATE 'WB001' THEN
        RETURN NULL;
    END;
END $$;

-- As in 0015_steps.sql, but should two attempts have come this far, the answer that was stored first has its calls, its
-- log and what is told of it, and the other leaves nothing. Raises WB001.
CREATE OR REPLACE FUNCTION werkbank.store_answer(answer jsonb, calls jsonb, log jsonb, told jsonb) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
    said message := jsonb_populate_record(NULL::message, answer);
    went round_log := jsonb_populate_record(NULL::round_log, log);
    events json[] := '{}';
    data jsonb;
BEGIN
    UPDATE run SET rounds = greatest(rounds, said.round) WHERE id = said.run_id AND status = 'running';
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'WB001', MESSAGE = 'the run has ended';
    END IF;
    INSERT INTO message (id, mandate_id, user_id, workflow_id, run_id, round, role, content, tool_calls, provider_data,
        partial, created_at)
    VALUES (said.id, werkbank.mandate_id(), werkbank.user_id(), said.workflow_id, said.run_id, said.round, said.role,
        said.content, said.tool_calls, said.provider_data, said.partial, said.created_at)
    ON CONFLICT (run_id, round, role) DO NOTHING;
    IF FOUND THEN
        UPDATE round_log SET model = went.model, instead_of = went.instead_of, answered_under = went.answered_under,
            stop_reason = went.stop_reason, input_tokens = went.input_tokens, output_tokens = went.output_tokens,
            cached_input_tokens = went.cached_input_tokens, cost_chf = went.cost_chf, duration_ms = went.duration_ms
        WHERE run_id = said.run_id AND round = said.round;
        INSERT INTO tool_call (run_id, round, call_id, position, mandate_id, user_id, name, arguments, read_only)
        SELECT said.run_id, said.round, call ->> 'id', place - 1, werkbank.mandate_id(), werkbank.user_id(),
            call ->> 'name', call ->> 'arguments', (call ->> 'read_only')::boolean
        FROM jsonb_array_elements(calls) WITH ORDINALITY AS asked (call, place);
        FOR data IN SELECT * FROM jsonb_array_elements(told) LOOP
            events := events || werkbank.append_event(said.run_id, 'status', data);
        END LOOP;
    END IF;
    RETURN json_build_object(
        'answer', (
            SELECT to_jsonb(m) - 'words' || jsonb_build_object('trusted', r.trusted)
            FROM message m JOIN run r ON r.id = m.run_id
            WHERE m.run_id = said.run_id AND m.round = said.round AND m.role = said.role),
        'events', to_json(events)
    );
END $$;

-- As in 0015_steps.sql, with the moment each call came to its end: what waited for its user for days tells the model so.
CREATE OR REPLACE FUNCTION werkbank.begin_round(of_run uuid, of_round integer, most_rounds integer) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
    found_run run;
    attempt integer;
    told json;
BEGIN
    SELECT * INTO found_run FROM run WHERE id = of_run;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF found_run.status = 'running' AND NOT EXISTS (
        SELECT FROM message WHERE run_id = of_run AND round = of_round AND role = 'assistant'
    ) THEN
        INSERT INTO round_log (run_id, round, mandate_id, user_id)
        VALUES (of_run, of_round, found_run.mandate_id, found_run.user_id)
        ON CONFLICT (run_id, round) DO UPDATE SET attempts = round_log.attempts + 1 RETURNING attempts INTO attempt;
        IF attempt > 1 THEN
            PERFORM werkbank.settle_abandoned(of_run, of_round);
        ELSE
            told := werkbank.append_event(of_run, 'agentProgress', jsonb_build_object(
                'round', of_round,
                'maxRounds', least((found_run.config ->> 'maxRounds')::integer + found_run.extra_rounds, most_rounds),
                'costChf', found_run.spent_chf::text,
                'toolCalls', (SELECT count(*) FROM tool_call WHERE run_id = of_run)));
        END IF;
    END IF;
    RETURN json_build_object(
        'run', werkbank.run_json(found_run),
        'attempt', attempt,
        'event', told,
        'messages', (
            SELECT coalesce(json_agg(said ORDER BY said.position), '[]') FROM (
                SELECT m.id, m.workflow_id, run_id, round, role, content, trusted, context, tool_calls, provider_data,
                    file_ids, citations, partial, importance, pinned, created_at, position
                FROM message m JOIN run r ON r.id = m.run_id WHERE m.workflow_id = found_run.workflow_id
            ) AS said),
        'calls', (
            SELECT coalesce(json_agg(called ORDER BY called.round, called.position), '[]') FROM (
                SELECT run_id, round, call_id, position, name, arguments, read_only, status, approved, result,
                    duration_ms, completed_at
                FROM tool_call WHERE run_id = of_run
            ) AS called),
        'briefing', werkbank.briefing(of_run)
    );
END $$;

-- As in 0012_reserve.sql, but what a run keeps for its closing text is kept of the mandate's limit, too: a run without
-- a cap of its own ends with a text as well (AG-06).
CREATE OR REPLACE FUNCTION werkbank.remaining(of_run uuid, is_closing boolean) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        WITH limits AS (
            SELECT max_cost_chf - spent_chf - reserved_chf AS rest,
                CASE WHEN is_closing AND id = of_run THEN 0 ELSE closing_chf END AS kept
            FROM run WHERE id = ANY (werkbank.lineage(of_run))
        )
        SELECT least(
            (SELECT min(rest - kept) FROM limits),
            (SELECT limit_chf - spent_chf - reserved_chf - coalesce((SELECT max(kept) FROM limits), 0)
             FROM mandate WHERE id = werkbank.mandate_id()))
    );
END $$;

-- As in 0015_steps.sql, with what is kept for the closing text as above.
CREATE OR REPLACE FUNCTION werkbank.hold(
    charge uuid, amount numeric, charge_kind text, charge_model text, of_run uuid, of_round integer, of_workflow uuid,
    is_closing boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    mandate_left numeric;
    run_left numeric;
    kept numeric;
    of_instance uuid;
BEGIN
    UPDATE mandate SET reserved_chf = reserved_chf + amount WHERE id = werkbank.mandate_id()
    RETURNING limit_chf - spent_chf - reserved_chf INTO mandate_left;
    IF of_run IS NOT NULL THEN
        WITH held AS (
            UPDATE run SET reserved_chf = reserved_chf + amount WHERE id = ANY (werkbank.lineage(of_run))
            RETURNING max_cost_chf - spent_chf - reserved_chf AS rest,
                CASE WHEN is_closing AND id = of_run THEN 0 ELSE closing_chf END AS closing
        )
        SELECT min(rest - closing), max(closing) INTO run_left, kept FROM held;
    END IF;
    IF amount > 0 AND mandate_left - coalesce(kept, 0) < 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'WB002', MESSAGE = 'mandate';
    END IF;
    IF amount > 0 AND run_left < 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'WB002', MESSAGE = 'run';
    END IF;
    SELECT coalesce(w.instance_id, f.instance_id) INTO of_instance
    FROM (SELECT of_run AS run_id) asked LEFT JOIN run r ON r.id = asked.run_id
        LEFT JOIN workflow w ON w.id = coalesce(of_workflow, r.workflow_id) LEFT JOIN file_item f ON f.id = r.file_id;
    INSERT INTO billing_transaction
        (id, mandate_id, user_id, instance_id, workflow_id, run_id, round, kind, model, reserved_chf)
    VALUES (charge, werkbank.mandate_id(), werkbank.user_id(), of_instance, of_workflow, of_run, of_round, charge_kind,
        charge_model, amount);
END $$;
