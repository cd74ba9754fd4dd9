-- Which providers and models a mandate lets its people use (AI-05, TB-04). Without a row everything is allowed; a row
-- for role '' holds for everyone, others add what a role may use besides. NULL means any.
CREATE TABLE model_right (
    mandate_id text NOT NULL REFERENCES mandate,
    role text NOT NULL DEFAULT '',
    providers text[],
    models text[],
    PRIMARY KEY (mandate_id, role)
);
ALTER TABLE model_right ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_right FORCE ROW LEVEL SECURITY;
CREATE POLICY model_right_read ON model_right FOR SELECT USING (mandate_id = (SELECT werkbank.mandate_id()));
CREATE POLICY model_right_change ON model_right USING (
    mandate_id = (SELECT werkbank.mandate_id()) AND (SELECT werkbank.has_role('admin')));
