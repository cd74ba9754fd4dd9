-- Runs end with an answer that the model broke off, too: at the longest it may give, or where it declined to go on.
ALTER TABLE run DROP CONSTRAINT run_status_check;
ALTER TABLE run ADD CONSTRAINT run_status_check CHECK (status IN ('running', 'completed', 'truncated',
    'maxRoundsReached', 'budgetExceeded', 'timedOut', 'stalled', 'stopped', 'error'));
