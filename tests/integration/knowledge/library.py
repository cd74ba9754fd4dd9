"""Files with passages, for the tests of this folder."""

from collections.abc import Sequence
from typing import Literal

from tests.embeddings import joined
from werkbank.ai.model import Model
from werkbank.database.connection import Database
from werkbank.domain.documents import Chunk, ContentObject, ContextRef, DocumentStructure, ExtractedDocument
from werkbank.domain.files import FileItem, Scope
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.time import utc_now
from werkbank.knowledge.model import Embedded, EmbeddedChunk
from werkbank.providers.internal.embedding import HashingEmbedder

MODEL = Model(
    id="internal/hashing-1536", provider="internal", name="hashing-1536", label="Offline", context_window=1_000_000,
    max_output_tokens=0, embedding_dimension=1536,
)  # fmt: skip


def embed(texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embedded:
    """Embed as the product does without a network."""
    return Embedded(joined(HashingEmbedder().embed(MODEL, texts, 60)).vectors, MODEL.id)


def new_file(
    principal: Principal, name: str = "a.txt", scope: Scope = "personal", instance_id: str | None = None
) -> FileItem:
    """Return a file that is not stored yet."""
    return FileItem(
        id=new_id(), mandate_id=principal.mandate_id, user_id=principal.user_id, file_name=name, scope=scope,
        instance_id=instance_id, mime_type="text/plain", size=1, object_key=f"files/{name}", created_at=utc_now(),
        updated_at=utc_now(),
    )  # fmt: skip


def document_of(name: str, *paragraphs: str) -> tuple[ExtractedDocument, list[EmbeddedChunk]]:
    """Return a document with a page and a passage for each paragraph."""
    places = [
        ContextRef(container_path=name, location=f"page:{n}", page_index=n) for n in range(1, len(paragraphs) + 1)
    ]
    objects = tuple(
        ContentObject(sequence=n, content_type="text", data=text, ref=places[n]) for n, text in enumerate(paragraphs)
    )
    chunks = [
        Chunk(sequence=n, object_sequence=n, text=text, ref=places[n], token_count=max(1, len(text) // 4))
        for n, text in enumerate(paragraphs)
    ]
    vectors = embed(paragraphs, "passage").vectors
    structure = DocumentStructure(mime_type="text/plain", page_count=len(paragraphs))
    pairs = [EmbeddedChunk(chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)]
    return ExtractedDocument(structure=structure, objects=objects), pairs


def add_file(
    database: Database,
    principal: Principal,
    *paragraphs: str,
    name: str = "a.txt",
    scope: Scope = "personal",
    instance_id: str | None = None,
) -> str:
    """Store a file and its index; return its id."""
    file = new_file(principal, name, scope, instance_id)
    document, chunks = document_of(name, *paragraphs)
    with database.session(principal) as session:
        session.files.add(file)
        session.knowledge.replace_index(file.id, document, chunks, MODEL.id)
    return file.id
