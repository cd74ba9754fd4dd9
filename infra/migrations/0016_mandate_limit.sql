-- A mandate's administrators choose its limit, the operator of the installation bounds it (AI-08). `limit_chf` stays what
-- holds, the lesser of the two: whatever moves money, also of runs under way, reads it and need not know of either.
ALTER TABLE mandate ADD COLUMN chosen_limit_chf numeric(14, 6) CHECK (chosen_limit_chf >= 0);

-- A policy knows no columns: everyone's calls move money in this row, but only administrators choose.
CREATE FUNCTION werkbank.refuse_choice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE insufficient_privilege USING MESSAGE = 'only administrators choose a limit';
END $$;
CREATE TRIGGER mandate_limit_choice BEFORE UPDATE OF chosen_limit_chf ON mandate
    FOR EACH ROW WHEN (NOT werkbank.has_role('admin')) EXECUTE FUNCTION werkbank.refuse_choice();
