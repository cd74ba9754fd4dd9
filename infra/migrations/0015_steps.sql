-- The steps of the loop, a function each: what happens at every round and every tool call is one round trip and one
-- transaction. Their plans stay cached behind RDS Proxy, where prepared statements would pin the connection. They run
-- with the caller's rights, so row-level security holds inside them.
--
-- What must not stay when it is refused is raised, since nobody is left to roll it back: WB001 the run has ended,
-- WB002 the money is used up (the message says whose, 'run' or 'mandate').

-- What the page is told of a call when it begins; settled with the call, since the tools' registry is not in here.
ALTER TABLE tool_call ADD COLUMN read_only boolean NOT NULL DEFAULT false;

-- Sets the principal for this transaction: `SELECT werkbank.step(…) FROM werkbank.act_as(…)`.
CREATE FUNCTION werkbank.act_as(of_user text, of_mandate text, with_roles text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('werkbank.user_id', of_user, true), set_config('werkbank.mandate_id', of_mandate, true),
        set_config('werkbank.roles', with_roles, true);
    RETURN true;
END $$;

-- A run as the code reads it. Amounts are text: a number of JSON may lose digits on its way.
CREATE FUNCTION werkbank.run_json(found_run run) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN to_jsonb(found_run) || jsonb_build_object('spent_chf', found_run.spent_chf::text,
        'reserved_chf', found_run.reserved_chf::text, 'closing_chf', found_run.closing_chf::text);
END $$;

-- Numbers an event without gaps, because the number is taken and the event written together. Raises WB001.
CREATE FUNCTION werkbank.append_event(of_run uuid, event_type text, event_data jsonb) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
    numbered run;
    told run_event;
BEGIN
    UPDATE run SET last_seq = last_seq + 1 WHERE id = of_run AND status = 'running' RETURNING * INTO numbered;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'WB001', MESSAGE = 'the run has ended';
    END IF;
    INSERT INTO run_event (run_id, seq, mandate_id, user_id, type, data)
    VALUES (of_run, numbered.last_seq, numbered.mandate_id, numbered.user_id, event_type, event_data)
    RETURNING * INTO told;
    RETURN json_build_object('run_id', told.run_id, 'seq', told.seq, 'type', told.type, 'at', told.at, 'data', told.data);
END $$;

-- Rounds --------------------------------------------------------------------------------------------------------------

-- A run with what its model said and its latest calls, without their results; NULL when there is none.
CREATE FUNCTION werkbank.progress(of_run uuid, latest integer) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT json_build_object(
            'run', werkbank.run_json(run),
            'said', ARRAY(SELECT content FROM message WHERE run_id = of_run AND role = 'assistant' ORDER BY round),
            'latest_calls', (
                SELECT coalesce(json_agg(called ORDER BY called.round, called.position), '[]') FROM (
                    SELECT run_id, round, call_id, position, name, arguments, read_only, status, approved, duration_ms
                    FROM tool_call WHERE run_id = of_run ORDER BY round DESC, position DESC LIMIT latest
                ) AS called))
        FROM run WHERE id = of_run
    );
END $$;

-- What a run's first round has settled, and which model answered last; NULL before.
CREATE FUNCTION werkbank.briefing(of_run uuid) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT json_build_object('complexity', settled.complexity, 'skills', settled.skills,
            'system_prompt', settled.system_prompt, 'answered_by', latest.model, 'instead_of', latest.instead_of,
            'answered_under', latest.answered_under)
        FROM run_briefing settled LEFT JOIN LATERAL (
            SELECT model, instead_of, answered_under FROM round_log WHERE run_id = of_run AND model IS NOT NULL
            ORDER BY round DESC LIMIT 1) latest ON true
        WHERE settled.run_id = of_run
    );
END $$;

-- Begins an attempt at a round and returns what it needs; without an attempt's number where there is nothing to begin,
-- because the run is over or the answer stored. The first attempt tells of the progress so far; what an earlier one had
-- reserved and died with is settled. However many rounds a run is granted, it has no more than most_rounds.
CREATE FUNCTION werkbank.begin_round(of_run uuid, of_round integer, most_rounds integer) RETURNS json
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

-- Stores an answer, the calls it asks for, the round's log and what is told of it (data of `status` events). Should two
-- attempts have come this far, the answer that was stored first has all of these, and the other leaves nothing. Raises
-- WB001.
CREATE FUNCTION werkbank.store_answer(answer jsonb, calls jsonb, log jsonb, told jsonb) RETURNS json LANGUAGE plpgsql AS $$
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

-- Tool calls ----------------------------------------------------------------------------------------------------------

-- Claims a call for whoever asks first, and tells of it with at most so many characters of its arguments; a later claim
-- brings no event. NULL when nobody asked for the call. Raises WB001.
CREATE FUNCTION werkbank.claim_call(of_run uuid, of_round integer, of_call text, shown integer) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
    call tool_call;
    told json;
BEGIN
    UPDATE tool_call SET status = 'claimed', claimed_at = clock_timestamp()
    WHERE run_id = of_run AND round = of_round AND call_id = of_call AND status = 'requested' RETURNING * INTO call;
    IF FOUND THEN
        told := werkbank.append_event(of_run, 'toolCall', jsonb_build_object('callId', of_call, 'round', of_round,
            'name', call.name, 'arguments', left(call.arguments, shown), 'readOnly', call.read_only));
    ELSE
        SELECT * INTO call FROM tool_call WHERE run_id = of_run AND round = of_round AND call_id = of_call;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    RETURN json_build_object('run', (SELECT werkbank.run_json(run) FROM run WHERE id = of_run), 'call', to_jsonb(call),
        'event', told);
END $$;

-- Stores the outcome of a claimed call and tells of it; NULL where there is nothing to tell: another try has stored one
-- before, or the run has ended while the tool had its effect. What it did is kept then, too (AG-20).
CREATE FUNCTION werkbank.complete_call(
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

-- Money ---------------------------------------------------------------------------------------------------------------

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

-- What the mandate lets the principal use, and what the run may still reserve.
CREATE FUNCTION werkbank.preflight(of_run uuid, is_closing boolean) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN json_build_object(
        'remaining_chf', werkbank.remaining(of_run, is_closing)::text,
        'rights', (
            SELECT coalesce(json_agg(json_build_object('role', role, 'providers', providers, 'models', models)), '[]')
            FROM model_right WHERE role = '' OR werkbank.has_role(role))
    );
END $$;

-- Sets an amount aside in the mandate, the run and the runs that one is part of, or raises WB002; locks in this order,
-- like all that moves money. What costs nothing (the offline model) is never refused. It is booked under the feature
-- instance that the run's conversation or file belongs to; what is kept for closing texts is kept as in `remaining`.
CREATE FUNCTION werkbank.hold(
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
