-- A source is a passage of a file or a page of the web (WS-06).
ALTER TABLE citation ALTER COLUMN file_id DROP NOT NULL;
ALTER TABLE citation ADD COLUMN url text;
ALTER TABLE citation ADD CONSTRAINT citation_origin CHECK ((file_id IS NULL) <> (url IS NULL));
