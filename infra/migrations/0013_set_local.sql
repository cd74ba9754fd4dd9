-- set_config for this transaction only, in a function of ours: RDS Proxy takes the bare call for a change of the session
-- and pins its connection to one client, while it does not look into functions.
-- https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/rds-proxy-pinning.html
CREATE FUNCTION werkbank.set_local(setting text, setting_value text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config(setting, setting_value, true);
END $$;
