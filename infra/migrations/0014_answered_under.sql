-- The version of the keys whose address a model answered at, where it stood in at one from before (AG-13): the rounds
-- that follow go there at once.
ALTER TABLE round_log ADD COLUMN answered_under text;
