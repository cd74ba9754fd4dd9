"""What was found in files: structure, content objects, passages with their vectors."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import psycopg
from psycopg.rows import DictRow
from pydantic import JsonValue

from werkbank.database.characters import storable_json
from werkbank.database.knowledge_memory import Memories
from werkbank.database.knowledge_search import PassageSearch
from werkbank.database.remembered import Remembered
from werkbank.database.store import Store
from werkbank.database.vectors import as_vector
from werkbank.domain.base import WireModel
from werkbank.domain.documents import ContentObject, ExtractedDocument
from werkbank.domain.ids import derived_id
from werkbank.domain.language import likely_languages
from werkbank.domain.principal import Principal
from werkbank.knowledge.model import EmbeddedChunk, FileIndex, ObjectFilter

_OBJECT_COLUMNS = {
    "file_id": "uuid", "sequence": "integer", "mandate_id": "text", "content_type": "text", "data": "text",
    "ref": "jsonb", "metadata": "jsonb",
}  # fmt: skip
_CHUNK_COLUMNS = {
    "id": "uuid", "mandate_id": "text", "file_id": "uuid", "sequence": "integer", "object_sequence": "integer",
    "text": "text", "ref": "jsonb", "token_count": "integer", "languages": "text",
    "embedding_model": "text", "embedding": "halfvec",
}  # fmt: skip
_ROWS_PER_STATEMENT = 200
_WORDS_OF_CHUNKS = """
INSERT INTO content_word (mandate_id, word, file_id, sequences, frequencies, lengths)
SELECT c.mandate_id, left(language, 1) || ':' || lexeme, c.file_id, array_agg(c.sequence ORDER BY c.sequence),
       array_agg(cardinality(positions)::smallint ORDER BY c.sequence), array_agg(c.token_count ORDER BY c.sequence)
FROM content_chunk c, unnest(string_to_array(c.languages, ' ')) AS language,
     unnest(to_tsvector(language::regconfig, c.text))
WHERE c.file_id = %s GROUP BY 1, 2, 3"""


class Knowledge(Store):
    """The indexes of files that the principal may see. A file's index is there as a whole or not at all."""

    def __init__(self, connection: psycopg.Connection[DictRow], principal: Principal) -> None:
        super().__init__(connection, principal)
        self.passages = PassageSearch(connection, principal)
        self.memory = Memories(connection, principal)
        self.remembered = Remembered(connection, principal)

    def replace_index(
        self, file_id: str, document: ExtractedDocument, chunks: Sequence[EmbeddedChunk], model_id: str
    ) -> None:
        """Put a file's new index in place of its old one, within the session's transaction.

        Raises NotFound or Forbidden (through the session) where the file is not the principal's to index.
        """
        self.delete_index(file_id)
        self._insert("content_object", _OBJECT_COLUMNS, (self._object_row(file_id, item) for item in document.objects))
        rows = (self._chunk_row(file_id, embedded, model_id) for embedded in chunks)
        self._insert("content_chunk", _CHUNK_COLUMNS, rows)
        self._run(_WORDS_OF_CHUNKS, (file_id,))
        self._run(
            "INSERT INTO file_content_index (file_id, mandate_id, structure, object_count, chunk_count, token_count,"
            " embedding_model) VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (
                file_id, self._principal.mandate_id, _json(document.structure), len(document.objects), len(chunks),
                sum(embedded.chunk.token_count for embedded in chunks), model_id,
            ),
        )  # fmt: skip

    def delete_index(self, file_id: str) -> None:
        """Remove all that was found in a file; the file stays."""
        for table in ("file_content_index", "content_word", "content_chunk", "content_object"):
            self._run(f"DELETE FROM {table} WHERE file_id = %s", (file_id,))

    def index_of(self, file_id: str) -> FileIndex | None:
        """Return what is known of a file, None if it is not indexed or not visible."""
        return self._find(
            FileIndex,
            "SELECT file_id, structure, object_count, chunk_count, token_count, embedding_model, indexed_at"
            " FROM file_content_index WHERE file_id = %s",
            (file_id,),
        )

    def objects(self, file_id: str, narrow: ObjectFilter) -> tuple[ContentObject, ...]:
        """Return a file's content objects in reading order, as far as the filter lets them through."""
        return self._list(
            ContentObject,
            """SELECT sequence, content_type, data, ref, metadata FROM content_object
               WHERE file_id = %(file)s
                 AND (%(pages)s::integer[] IS NULL OR page_index = ANY (%(pages)s))
                 AND (%(section)s::text IS NULL OR section_id = %(section)s)
                 AND (%(type)s::text IS NULL OR content_type = %(type)s)
               ORDER BY sequence OFFSET %(offset)s LIMIT %(limit)s""",
            {
                "file": file_id, "pages": list(narrow.pages) or None, "section": narrow.section_id,
                "type": narrow.content_type, "offset": narrow.offset, "limit": narrow.limit,
            },
        )  # fmt: skip

    def _object_row(self, file_id: str, item: ContentObject) -> tuple[object, ...]:
        return (
            file_id, item.sequence, self._principal.mandate_id, item.content_type, item.data,
            _json(item.ref), _json(item.metadata),
        )  # fmt: skip

    def _chunk_row(self, file_id: str, embedded: EmbeddedChunk, model_id: str) -> tuple[object, ...]:
        chunk = embedded.chunk
        # The same passage of the same file keeps its id when the file is indexed again: citations stay valid.
        chunk_id = derived_id(file_id, str(chunk.sequence), chunk.text)
        return (
            chunk_id, self._principal.mandate_id, file_id, chunk.sequence, chunk.object_sequence,
            chunk.text, _json(chunk.ref), chunk.token_count, " ".join(likely_languages(chunk.text)),
            model_id, as_vector(embedded.vector),
        )  # fmt: skip

    def _insert(self, table: str, columns: Mapping[str, str], rows: Iterable[tuple[object, ...]]) -> None:
        """Insert rows in large statements: COPY is refused under row-level security, a statement a row is slow."""
        arrays = ", ".join(f"%s::{kind}[]" for kind in columns.values())
        sql = f"INSERT INTO {table} ({', '.join(columns)}) SELECT * FROM unnest({arrays})"
        remaining = iter(rows)
        while batch := list(islice(remaining, _ROWS_PER_STATEMENT)):
            self._run(sql, [list(column) for column in zip(*batch, strict=True)])


def _json(value: WireModel | dict[str, JsonValue]) -> str:
    return storable_json(value.to_wire() if isinstance(value, WireModel) else value)
