"""What a person said, as their memory across conversations: found by meaning, by words, by importance and age (AG-17).

Row-level security keeps it to the person. Their memories are few: no index by vector or word, an exact search.
"""

from psycopg.rows import DictRow

from werkbank.database.store import Store
from werkbank.database.vectors import as_vector
from werkbank.domain.language import topic_of
from werkbank.knowledge.model import QueryVector, RankedMessage, RememberedMessage

_COLUMNS = ", ".join(RememberedMessage.model_fields)
# A message pinned by hand that had no score, as those before memory had none.
_PINNED_IMPORTANCE = 0.5
_LONGEST_INDEXED = 10_000
# After this many days importance counts half.
_HALVED_AFTER_DAYS = 30


def words_of(text: str) -> str:
    """Return the SQL for the words of a text, itself an SQL expression, in both languages."""
    cut = f"left({text}, {_LONGEST_INDEXED})"
    return f"to_tsvector('german', {cut}) || to_tsvector('english', {cut})"


# Any word of the question counts, where plainto_tsquery alone would want all of them.
_ANY_WORD = " || ".join(
    f"replace(plainto_tsquery('{language}', %(question)s)::text, '&', '|')::tsquery"
    for language in ("german", "english")
)

_RANKED = f"""
WITH figures AS MATERIALIZED (
    SELECT id, ts_rank(words, asked.query, 1) AS words,
           nullif(CASE WHEN embedding_model = %(model)s THEN embedding <=> %(vector)s::halfvec END, 'NaN') AS distance,
           importance / (1 + extract(epoch FROM now() - created_at) / (86400 * {_HALVED_AFTER_DAYS})) AS standing
    FROM message, (SELECT {_ANY_WORD} AS query) AS asked WHERE importance >= %(least)s
), ranked AS (
    SELECT id,
           CASE WHEN distance < 1 THEN row_number() OVER (ORDER BY distance, id) END AS by_meaning,
           CASE WHEN words > 0 THEN row_number() OVER (ORDER BY words DESC NULLS LAST, id) END AS by_words,
           row_number() OVER (ORDER BY standing DESC, id) AS by_standing
    FROM figures
)
SELECT {_COLUMNS}, by_meaning, by_words, by_standing FROM ranked JOIN message USING (id)
WHERE least(by_meaning, by_words, by_standing) <= %(limit)s"""


class Remembered(Store):
    """The principal's memories; a message without importance is none."""

    def latest(self, limit: int, *, pinned_only: bool = False) -> tuple[RememberedMessage, ...]:
        """Return memories, the latest first."""
        return self._list(
            RememberedMessage,
            f"SELECT {_COLUMNS} FROM message WHERE importance IS NOT NULL AND (pinned OR NOT %s)"
            " ORDER BY created_at DESC, id LIMIT %s",
            (pinned_only, limit),
        )

    def notable(self, least: float, limit: int) -> tuple[RememberedMessage, ...]:
        """Return the pinned memories, then those of at least this importance, each the latest first."""
        return self._list(
            RememberedMessage,
            f"SELECT {_COLUMNS} FROM message WHERE importance IS NOT NULL AND (pinned OR importance >= %s)"
            " ORDER BY pinned DESC, created_at DESC, id LIMIT %s",
            (least, limit),
        )

    def ranked(self, question: str, vector: QueryVector | None, least: float, limit: int) -> tuple[RankedMessage, ...]:
        """Return the best `limit` of each ranking among memories of at least this importance, unordered, each once."""
        rows = self._rows(
            _RANKED,
            {
                "question": topic_of(question), "least": least, "limit": limit,
                "model": vector.model_id if vector else None, "vector": as_vector(vector.vector) if vector else None,
            },
        )  # fmt: skip
        return tuple(_ranked(row, limit) for row in rows)

    def set_vector(self, message_id: str, vector: QueryVector) -> None:
        """Let a memory be found by meaning, unless it is forgotten."""
        self._run(
            "UPDATE message SET embedding = %s, embedding_model = %s WHERE id = %s AND importance IS NOT NULL",
            (as_vector(vector.vector), vector.model_id, message_id),
        )

    def set_pinned(self, message_id: str, pinned: bool) -> RememberedMessage:
        """Pin something the principal said, even if it was forgotten, or unpin it. Raises NotFound."""
        return self._get(
            RememberedMessage,
            "memory",
            f"""UPDATE message SET pinned = %(pinned)s, importance = coalesce(importance, {_PINNED_IMPORTANCE}),
                    words = coalesce(words, {words_of("content")})
                WHERE id = %(id)s AND role = 'user' AND (%(pinned)s OR importance IS NOT NULL)
                    AND (SELECT trusted FROM run WHERE run.id = message.run_id)
                RETURNING {_COLUMNS}""",
            {"pinned": pinned, "id": message_id},
        )

    def forget(self, message_id: str) -> None:
        """Tell no later question of it, nor of the answer it got; both stay in their conversation. Raises NotFound."""
        self._get(
            RememberedMessage,
            "memory",
            f"SELECT {_COLUMNS} FROM message WHERE id = %s AND importance IS NOT NULL",
            (message_id,),
        )
        self._run(
            "DELETE FROM round_memory WHERE kind = 'decision' AND run_id = (SELECT run_id FROM message WHERE id = %s)",
            (message_id,),
        )
        self._run(
            "UPDATE message SET importance = NULL, pinned = false, words = NULL, embedding = NULL,"
            " embedding_model = NULL WHERE id = %s",
            (message_id,),
        )


def _ranked(row: DictRow, limit: int) -> RankedMessage:
    meaning, words, standing = (row.pop(name) for name in ("by_meaning", "by_words", "by_standing"))
    within = tuple(rank if rank and rank <= limit else None for rank in (meaning, words, standing))
    return RankedMessage(RememberedMessage.model_validate(row), (within[0], within[1], within[2]))
