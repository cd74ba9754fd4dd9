-- Who searches the web (WS-07): on unless an organisation's administrator or the person has chosen otherwise. NULL is no
-- choice. A run keeps what held when it began.
CREATE TABLE mandate_preference (
    mandate_id text PRIMARY KEY REFERENCES mandate,
    web_search_enabled boolean
);
ALTER TABLE mandate_preference ENABLE ROW LEVEL SECURITY;
ALTER TABLE mandate_preference FORCE ROW LEVEL SECURITY;
CREATE POLICY mandate_preference_read ON mandate_preference FOR SELECT USING (
    mandate_id = (SELECT werkbank.mandate_id()));
CREATE POLICY mandate_preference_change ON mandate_preference USING (
    mandate_id = (SELECT werkbank.mandate_id()) AND (SELECT werkbank.has_role('admin')));

CREATE TABLE user_preference (
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    web_search_enabled boolean,
    PRIMARY KEY (mandate_id, user_id)
);
ALTER TABLE user_preference ENABLE ROW LEVEL SECURITY;
ALTER TABLE user_preference FORCE ROW LEVEL SECURITY;
CREATE POLICY user_preference_own ON user_preference USING (
    mandate_id = (SELECT werkbank.mandate_id()) AND user_id = (SELECT werkbank.user_id()));

ALTER TABLE run ADD COLUMN web_search_enabled boolean NOT NULL DEFAULT true;
