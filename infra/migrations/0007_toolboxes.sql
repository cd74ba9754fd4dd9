-- Toolboxes that a run was granted on its way (TB-03), beside those its configuration began with.
ALTER TABLE run ADD COLUMN granted_toolboxes text[] NOT NULL DEFAULT '{}';
