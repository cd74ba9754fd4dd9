-- What a user says is their memory (AG-17): the message itself, with how important it is to later questions, what finds
-- it by words and by meaning, and whether it is told always. Without an importance a message is no memory, or forgotten.

ALTER TABLE message ADD COLUMN importance real CHECK (importance BETWEEN 0 AND 1);
ALTER TABLE message ADD COLUMN pinned boolean NOT NULL DEFAULT false;
ALTER TABLE message ADD COLUMN words tsvector;
ALTER TABLE message ADD COLUMN embedding_model text;
ALTER TABLE message ADD COLUMN embedding halfvec;
ALTER TABLE message ALTER COLUMN embedding SET STORAGE EXTERNAL;  -- floats do not compress
ALTER TABLE message ADD CONSTRAINT message_memory CHECK (
    CASE WHEN importance IS NULL THEN NOT pinned AND embedding IS NULL ELSE role = 'user' END);
ALTER TABLE message ADD CONSTRAINT message_memory_embedded CHECK ((embedding IS NULL) = (embedding_model IS NULL));
CREATE INDEX message_memory ON message (mandate_id, user_id, created_at DESC) WHERE importance IS NOT NULL;
