-- The knowledge store (KS-01): what was found in files, the passages that are searched, and what runs remember.
--
-- A passage is visible exactly when its file is: the policies ask file_item, whose own policies decide (KS-02). Nothing
-- of a file's scope is copied, so that changing it takes effect at once and nothing can disagree.

-- One row per indexed file. Sums over the visible rows are the corpus statistics of the full-text ranking.
CREATE TABLE file_content_index (
    file_id uuid PRIMARY KEY REFERENCES file_item ON DELETE CASCADE,
    mandate_id text NOT NULL REFERENCES mandate,
    structure jsonb NOT NULL,
    object_count integer NOT NULL,
    chunk_count integer NOT NULL,
    token_count bigint NOT NULL,
    embedding_model text NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE content_object (
    file_id uuid NOT NULL REFERENCES file_item ON DELETE CASCADE,
    sequence integer NOT NULL,
    mandate_id text NOT NULL REFERENCES mandate,
    content_type text NOT NULL CHECK (content_type IN ('text', 'image', 'videostream', 'audiostream', 'other')),
    data text NOT NULL,
    ref jsonb NOT NULL,
    metadata jsonb NOT NULL,
    page_index integer GENERATED ALWAYS AS ((ref ->> 'pageIndex')::integer) STORED,
    section_id text GENERATED ALWAYS AS (ref ->> 'sectionId') STORED,
    PRIMARY KEY (file_id, sequence)
);

-- Vectors of several models may stand side by side; each knows its model, and a search compares like with like (KS-07).
CREATE TABLE content_chunk (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    file_id uuid NOT NULL REFERENCES file_item ON DELETE CASCADE,
    sequence integer NOT NULL,
    object_sequence integer NOT NULL,
    text text NOT NULL,
    ref jsonb NOT NULL,
    token_count integer NOT NULL,
    languages text NOT NULL,  -- text search configurations, separated by spaces
    embedding_model text NOT NULL,
    embedding halfvec NOT NULL,
    UNIQUE (file_id, sequence)
);
CREATE INDEX content_chunk_mandate ON content_chunk (mandate_id);
ALTER TABLE content_chunk ALTER COLUMN embedding SET STORAGE EXTERNAL;  -- floats do not compress

-- Full text, as an inverted index of our own: for each word of a file the chunks it stands in, how often, and their
-- lengths in tokens. A GIN index on a tsvector cannot serve here: under row-level security PostgreSQL uses only leakproof
-- operators to look rows up, and @@ is not one (it read every row: 800 ms among 20,000 passages, 48 ms with these lists);
-- equality of texts is one.
-- A list per file is short, and how rare a word is among the visible passages falls out of reading it.
CREATE TABLE content_word (
    mandate_id text NOT NULL REFERENCES mandate,
    word text NOT NULL,  -- the language's first letter and the stem: `g:vertrag`
    file_id uuid NOT NULL REFERENCES file_item ON DELETE CASCADE,
    sequences integer[] NOT NULL,
    frequencies smallint[] NOT NULL,
    lengths integer[] NOT NULL,
    PRIMARY KEY (mandate_id, word, file_id)
);
CREATE INDEX content_word_file ON content_word (file_id);

-- Measured on 40,000 vectors of 1536 dimensions: halfvec finds the same best 50 as vector, in half the space (table 162
-- against 312 MB, index 164 against 328 MB) and less time (an exact search of 20,000: 0.26 s against 0.44 s). On texts
-- made to be hard to tell apart the index found, of the best 10 among 20,000, with ef_search 400: 0.88 with m = 16,
-- ef_construction = 64, and 0.94 with m = 24, ef_construction = 128; on vectors around topics over 0.95.
CREATE INDEX content_chunk_hashing_1536 ON content_chunk
    USING hnsw ((embedding::halfvec(1536)) halfvec_cosine_ops) WITH (m = 24, ef_construction = 128)
    WHERE embedding_model = 'internal/hashing-1536';
CREATE INDEX content_chunk_text_embedding_3_small ON content_chunk
    USING hnsw ((embedding::halfvec(1536)) halfvec_cosine_ops) WITH (m = 24, ef_construction = 128)
    WHERE embedding_model = 'openai/text-embedding-3-small';

-- What a round did: the files it used, what tools found, what was decided.
CREATE TABLE round_memory (
    id uuid PRIMARY KEY,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    workflow_id uuid NOT NULL REFERENCES workflow ON DELETE CASCADE,
    run_id uuid NOT NULL REFERENCES run ON DELETE CASCADE,
    round integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('fileRef', 'toolResult', 'decision')),
    file_id uuid REFERENCES file_item ON DELETE CASCADE,
    content text NOT NULL,
    embedding_model text,
    embedding halfvec,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((kind = 'fileRef') = (file_id IS NOT NULL)),
    CHECK ((embedding IS NULL) = (embedding_model IS NULL))
);
CREATE INDEX round_memory_workflow ON round_memory (workflow_id, created_at DESC);
CREATE INDEX round_memory_run ON round_memory (run_id);
CREATE INDEX round_memory_file ON round_memory (file_id);

-- What a workflow knows: `entity:companyName` → value.
CREATE TABLE workflow_memory (
    workflow_id uuid NOT NULL REFERENCES workflow ON DELETE CASCADE,
    key text NOT NULL,
    mandate_id text NOT NULL REFERENCES mandate,
    user_id text NOT NULL,
    value text NOT NULL,
    source text NOT NULL CHECK (source IN ('extraction', 'tool', 'conversation', 'summary')),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workflow_id, key)
);

-- Row-level security --------------------------------------------------------------------------------------------------

DO $$
DECLARE
    name text;
    rule text;
BEGIN
    FOREACH name IN ARRAY ARRAY['file_content_index', 'content_object', 'content_chunk', 'content_word'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY %I ON %I FOR SELECT USING (file_id IN (SELECT id FROM file_item))',
            name || '_read', name);
        -- Written by the indexing of a file, which acts for its owner; an administrator may re-index what is shared.
        -- Nothing may be updated: an index is replaced as a whole.
        FOREACH rule IN ARRAY ARRAY['INSERT WITH CHECK', 'DELETE USING'] LOOP
            EXECUTE format('CREATE POLICY %I ON %I FOR %s (
                mandate_id = (SELECT werkbank.mandate_id()) AND EXISTS (
                    SELECT 1 FROM file_item f WHERE f.id = file_id AND f.mandate_id = (SELECT werkbank.mandate_id())
                    AND (f.user_id = (SELECT werkbank.user_id())
                        OR f.scope <> ''personal'' AND (SELECT werkbank.has_role(''admin'')))))',
                name || '_' || lower(split_part(rule, ' ', 1)), name, rule);
        END LOOP;
    END LOOP;
    FOREACH name IN ARRAY ARRAY['round_memory', 'workflow_memory'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY %I ON %I USING (mandate_id = (SELECT werkbank.mandate_id())
            AND user_id = (SELECT werkbank.user_id()) AND workflow_id IN (SELECT id FROM workflow))',
            name || '_own', name);
    END LOOP;
END $$;
