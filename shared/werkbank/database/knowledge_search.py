"""Search among passages: exact or approximate nearest neighbours, and words ranked like BM25 (KS-06).

What a principal may see is row-level security's business. The joins with file_item are there for speed: they let the
planner start from the visible files where a policy alone can only filter what was found elsewhere.
"""

import math
from collections.abc import Mapping

import psycopg
from psycopg.rows import DictRow

from werkbank.database.store import Store
from werkbank.database.vectors import as_vector
from werkbank.domain.ids import is_id
from werkbank.domain.language import topic_of
from werkbank.domain.principal import Principal
from werkbank.knowledge.model import Candidate, FoundPassage, QueryVector, SearchFilter

# Up to here all vectors in scope are compared, which finds everything; beyond, the index is faster.
_EXACT_CHUNKS = 10_000
# Those with an HNSW index, all of 1536 dimensions; a new one comes with a migration.
_INDEXED_MODELS = frozenset({"internal/hashing-1536", "openai/text-embedding-3-small"})
# How far a filtered index scan goes on when most of what it meets belongs to others.
_MAX_SCAN_TUPLES = 40_000
_EF_SEARCH = 400
_MAX_WORDS = 128

_NARROW = """(%(files)s::uuid[] IS NULL OR f.id = ANY (%(files)s))
    AND (%(scopes)s::text[] IS NULL OR f.scope = ANY (%(scopes)s))"""

_SCOPE_SIZE = f"""
SELECT coalesce(sum(i.chunk_count), 0)::bigint AS chunks, coalesce(sum(i.token_count), 0)::bigint AS tokens
FROM file_item f JOIN file_content_index i ON i.file_id = f.id WHERE {_NARROW}"""

_EXACT = f"""
SELECT c.id, 1 - (c.embedding <=> %(vector)s::halfvec) AS similarity
FROM file_item f JOIN content_chunk c ON c.file_id = f.id
WHERE {_NARROW} AND c.embedding_model = %(model)s
ORDER BY c.embedding <=> %(vector)s::halfvec, c.id LIMIT %(limit)s"""

# IS TRUE keeps the planner from turning the subquery into a join, after which it could not use the index's order.
_APPROXIMATE = f"""
SELECT c.id, 1 - (c.embedding <=> %(vector)s::halfvec) AS similarity FROM content_chunk c
WHERE (c.file_id IN (SELECT f.id FROM file_item f WHERE {_NARROW})) IS TRUE AND c.embedding_model = %(model)s
ORDER BY c.embedding::halfvec(1536) <=> %(vector)s::halfvec(1536) LIMIT %(limit)s"""

# Distances cost more than the planner thinks: left alone it sorts everything where the index is many times faster.
_USE_INDEX = """
SELECT werkbank.set_local('hnsw.iterative_scan', 'relaxed_order'), werkbank.set_local('hnsw.ef_search', %(ef)s),
       werkbank.set_local('hnsw.max_scan_tuples', %(scan)s), werkbank.set_local('enable_sort', 'off')"""

# BM25 (k1 0.9, b 0.4) over the visible passages. A passage whose language is unclear has the words of both; its better
# score counts.
_TEXT = f"""
WITH posting AS MATERIALIZED (
    SELECT w.word, w.file_id, p.sequence, p.frequency, p.length
    FROM content_word w JOIN file_item f ON f.id = w.file_id,
         unnest(w.sequences, w.frequencies, w.lengths) AS p (sequence, frequency, length)
    WHERE w.mandate_id = ANY (ARRAY(SELECT DISTINCT f.mandate_id FROM file_item f WHERE {_NARROW}))
      AND w.word = ANY (ARRAY(
          SELECT left(language, 1) || ':' || lexeme
          FROM unnest(ARRAY['german', 'english']) AS language,
               unnest(to_tsvector(language::regconfig, %(question)s)) LIMIT {_MAX_WORDS}))
      AND {_NARROW}
), rarity AS (
    SELECT word, ln(1 + (greatest(%(chunks)s - count(*), 0) + 0.5) / (count(*) + 0.5)) AS weight
    FROM posting GROUP BY word
), scored AS (
    SELECT file_id, sequence, max(score) AS score FROM (
        SELECT file_id, sequence,
               sum(weight * 1.9 * frequency / (frequency + 0.9 * (0.6 + 0.4 * length / %(mean)s))) AS score
        FROM posting JOIN rarity USING (word) GROUP BY file_id, sequence, left(word, 1)) AS by_language
    GROUP BY file_id, sequence
)
SELECT c.id, best.score::float8
FROM (SELECT * FROM scored ORDER BY score DESC, file_id, sequence LIMIT %(limit)s) AS best
     JOIN content_chunk c USING (file_id, sequence)
UNION
SELECT c.id, scored.score::float8 FROM content_chunk c JOIN scored USING (file_id, sequence)
WHERE c.id = ANY (%(also)s::uuid[])"""

_SIMILARITY = """
SELECT id, 1 - (embedding <=> %(vector)s::halfvec) AS similarity FROM content_chunk
WHERE id = ANY (%(ids)s::uuid[]) AND embedding_model = %(model)s"""

_PASSAGES = """
SELECT c.id AS chunk_id, c.file_id, f.file_name, f.scope, c.text, c.token_count, c.ref
FROM content_chunk c JOIN file_item f ON f.id = c.file_id WHERE c.id = ANY (%s::uuid[])"""


class PassageSearch(Store):
    """The search of one principal within one transaction; scopes of up to `exact_chunks` are searched exactly."""

    def __init__(
        self, connection: psycopg.Connection[DictRow], principal: Principal, exact_chunks: int = _EXACT_CHUNKS
    ) -> None:
        super().__init__(connection, principal)
        self._exact_chunks = exact_chunks

    def candidates(
        self, question: str, vector: QueryVector | None, narrow: SearchFilter, limit: int
    ) -> tuple[Candidate, ...]:
        """Return the best `limit` by similarity and the best `limit` by words, unordered, each once.

        Every candidate has both figures, as far as they exist.
        """
        scope = _parameters(narrow)
        size = self._row(_SCOPE_SIZE, scope)
        if size is None or not size["chunks"]:
            return ()
        near = self._nearest(vector, scope | {"limit": limit}, size["chunks"]) if vector else {}
        mean = max(size["tokens"] / size["chunks"], 1.0)
        words = {"question": topic_of(question), "chunks": size["chunks"], "mean": mean, "also": list(near)}
        text = self._figures(_TEXT, scope | words | {"limit": limit})
        if vector:
            near |= self._similarities(vector, [chunk_id for chunk_id in text if chunk_id not in near])
        return tuple(Candidate(id, near.get(id), text.get(id, 0.0)) for id in dict.fromkeys([*near, *text]))

    def passages(self, scores: dict[str, float]) -> tuple[FoundPassage, ...]:
        """Return the passages of these chunk ids with the given scores, best first."""
        found = [
            FoundPassage.model_validate(row | {"score": scores[row["chunk_id"]]})
            for row in self._rows(_PASSAGES, (list(scores),))
        ]
        return tuple(sorted(found, key=lambda passage: (-passage.score, passage.chunk_id)))

    def _nearest(self, vector: QueryVector, parameters: Mapping[str, object], chunks: int) -> dict[str, float]:
        given = {**parameters, "vector": as_vector(vector.vector), "model": vector.model_id}
        if chunks <= self._exact_chunks or vector.model_id not in _INDEXED_MODELS:
            return self._figures(_EXACT, given)
        self._run(_USE_INDEX, {"ef": str(_EF_SEARCH), "scan": str(_MAX_SCAN_TUPLES)})
        found = self._figures(_APPROXIMATE, given)
        self._run("SELECT werkbank.set_local('enable_sort', 'on')")
        return found

    def _similarities(self, vector: QueryVector, ids: list[str]) -> dict[str, float]:
        return self._figures(_SIMILARITY, {"ids": ids, "vector": as_vector(vector.vector), "model": vector.model_id})

    def _figures(self, sql: str, parameters: Mapping[str, object]) -> dict[str, float]:
        """Return the figure of each id; a text without words has a zero vector, whose cosines are no numbers."""
        rows = (tuple(row.values()) for row in self._rows(sql, parameters))
        return {chunk_id: figure for chunk_id, figure in rows if not math.isnan(figure)}


def _parameters(narrow: SearchFilter) -> dict[str, object]:
    """An id that is none names no file; it must not fail the search."""
    files = None if narrow.file_ids is None else [file_id for file_id in narrow.file_ids if is_id(file_id)]
    return {"files": files, "scopes": None if narrow.scopes is None else list(narrow.scopes)}
