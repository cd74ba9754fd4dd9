-- Money in one place: what a call may cost is set aside before it, in its run, in the runs that one is part of, and in
-- the mandate. A part of every cap is kept for the closing text (AG-06, AG-07); a sub-agent draws on its parent's money.
--
-- Functions, not statements: a run has any number of parents, all of it must be one round trip under one set of locks,
-- and a function's plans stay cached behind RDS Proxy, where prepared statements would pin the session. They run with
-- the caller's rights, so row-level security holds inside them. Whoever moves money locks the mandate first and runs
-- only under that lock: no order of runs can then deadlock.
ALTER TABLE run ADD COLUMN parent_id uuid REFERENCES run ON DELETE SET NULL;
ALTER TABLE run ADD COLUMN closing_chf numeric(14, 6) NOT NULL DEFAULT 0 CHECK (closing_chf >= 0);
CREATE INDEX run_parent ON run (parent_id) WHERE parent_id IS NOT NULL;

-- Runs end after a time, too.
ALTER TABLE run DROP CONSTRAINT run_status_check;
ALTER TABLE run ADD CONSTRAINT run_status_check CHECK (status IN
    ('running', 'completed', 'maxRoundsReached', 'budgetExceeded', 'timedOut', 'stalled', 'stopped', 'error'));

-- The run and those it is part of, itself first.
CREATE FUNCTION werkbank.lineage(of_run uuid) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    current uuid := of_run;
    found_runs uuid[] := '{}';
BEGIN
    WHILE current IS NOT NULL LOOP
        found_runs := found_runs || current;
        SELECT parent_id INTO current FROM run WHERE id = current;
    END LOOP;
    RETURN found_runs;
END $$;

-- Adds to the sums of a mandate and of a run with its parents; of_run may be NULL.
CREATE FUNCTION werkbank.move_money(of_mandate text, of_run uuid, reserved numeric, spent numeric)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mandate SET reserved_chf = reserved_chf + reserved, spent_chf = spent_chf + spent WHERE id = of_mandate;
    IF of_run IS NOT NULL THEN
        UPDATE run SET reserved_chf = reserved_chf + reserved, spent_chf = spent_chf + spent
        WHERE id = ANY (werkbank.lineage(of_run));
    END IF;
END $$;

-- What a run may still reserve: the least of what its cap, its parents' caps and the mandate leave; NULL without any.
-- Only a run's own closing text may use what is kept for it.
CREATE FUNCTION werkbank.remaining(of_run uuid, is_closing boolean) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT min(amount) FROM (
            SELECT max_cost_chf - spent_chf - reserved_chf
                - CASE WHEN is_closing AND id = of_run THEN 0 ELSE closing_chf END
            FROM run WHERE id = ANY (werkbank.lineage(of_run))
            UNION ALL
            SELECT limit_chf - spent_chf - reserved_chf FROM mandate WHERE id = werkbank.mandate_id()
        ) AS limits (amount)
    );
END $$;

-- Sets an amount aside. Returns what refused it, 'run' or 'mandate', or NULL; the caller rolls a refusal back. What
-- costs nothing (the offline model) is never refused.
CREATE FUNCTION werkbank.reserve(
    charge uuid, amount numeric, charge_kind text, charge_model text, of_run uuid, of_round integer, of_workflow uuid,
    of_instance uuid, is_closing boolean
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    mandate_left numeric;
BEGIN
    PERFORM werkbank.move_money(werkbank.mandate_id(), of_run, amount, 0);
    IF amount > 0 THEN
        SELECT limit_chf - spent_chf - reserved_chf INTO mandate_left FROM mandate WHERE id = werkbank.mandate_id();
        IF mandate_left < 0 THEN
            RETURN 'mandate';
        END IF;
        IF of_run IS NOT NULL AND werkbank.remaining(of_run, is_closing) < 0 THEN
            RETURN 'run';
        END IF;
    END IF;
    INSERT INTO billing_transaction
        (id, mandate_id, user_id, instance_id, workflow_id, run_id, round, kind, model, reserved_chf)
    VALUES (charge, werkbank.mandate_id(), werkbank.user_id(), of_instance, of_workflow, of_run, of_round, charge_kind,
        charge_model, amount);
    RETURN NULL;
END $$;

-- Replaces a reservation by what the call really cost, or gives it back (cost NULL). A second time changes nothing.
CREATE FUNCTION werkbank.settle(
    charge uuid, cost numeric, input integer, output integer, cached_input integer
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held billing_transaction;
BEGIN
    UPDATE billing_transaction
    SET status = CASE WHEN cost IS NULL THEN 'released' ELSE 'settled' END, cost_chf = cost, input_tokens = input,
        output_tokens = output, cached_input_tokens = cached_input, settled_at = now()
    WHERE id = charge AND status = 'reserved' RETURNING * INTO held;
    IF FOUND THEN
        PERFORM werkbank.move_money(held.mandate_id, held.run_id, -held.reserved_chf, coalesce(held.cost_chf, 0));
    END IF;
END $$;

-- Settles at the full reservation what died with it: an earlier try of a round, or (without one) all of the mandate's
-- that are older than any function lives. The provider may have billed it; a cap that crashing could pass were none.
CREATE FUNCTION werkbank.settle_abandoned(of_run uuid, of_round integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    charge uuid;
    held numeric;
BEGIN
    FOR charge, held IN
        SELECT id, reserved_chf FROM billing_transaction
        WHERE status = 'reserved' AND mandate_id = werkbank.mandate_id() AND CASE WHEN of_run IS NULL
            THEN created_at < now() - interval '20 minutes' ELSE run_id = of_run AND round = of_round END
    LOOP
        PERFORM werkbank.settle(charge, held, 0, 0, 0);
    END LOOP;
END $$;
