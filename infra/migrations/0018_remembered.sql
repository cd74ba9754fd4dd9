-- Since when a run's findings are memories (AG-17): whoever finishes it and finds none makes them, once.
ALTER TABLE run ADD COLUMN remembered_at timestamptz;
