"""What the knowledge store keeps and finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from werkbank.domain.base import WireModel
from werkbank.domain.documents import Chunk, ContentType, ContextRef, DocumentStructure
from werkbank.domain.files import Scope
from werkbank.domain.runs import Source

Vector = Sequence[float]
MemoryKind = Literal["fileRef", "toolResult", "decision"]
MemorySource = Literal["extraction", "tool", "conversation", "summary"]


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of texts, in their order, and the id of the model that made them: vectors of two models never meet."""

    vectors: Sequence[Vector]
    model_id: str


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question as a vector of one model."""

    vector: Vector
    model_id: str


class FileIndex(WireModel):
    """What is known of an indexed file; `token_count` sums over its chunks."""

    file_id: str
    structure: DocumentStructure
    object_count: int
    chunk_count: int
    token_count: int
    embedding_model: str
    indexed_at: datetime


class FoundPassage(WireModel):
    """A passage that a search found, ready to be cited. `score` orders the results of one search, nothing else."""

    chunk_id: str
    file_id: str
    file_name: str
    scope: Scope
    text: str
    token_count: int
    ref: ContextRef
    score: float

    @property
    def place(self) -> str:
        """Say where the passage stands, as a citation does."""
        return self.ref.describe()

    @property
    def source(self) -> Source:
        """Return what an answer cites."""
        return Source(
            chunk_id=self.chunk_id,
            file_id=self.file_id,
            file_name=self.file_name,
            place=self.place,
            quote=self.text,
            ref=self.ref.model_dump(mode="json", by_alias=True),
        )


class ObjectFilter(WireModel):
    """Which content objects of a file to read; every field narrows, pages count from 1."""

    pages: tuple[int, ...] = ()
    section_id: str | None = None
    content_type: ContentType | None = None
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=500, ge=1, le=10_000)


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Narrows a search among what the principal may see anyway; None does not narrow."""

    file_ids: tuple[str, ...] | None = None
    scopes: tuple[Scope, ...] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage in question: cosine similarity (None: no vector of this model) and full-text score (0: no word)."""

    chunk_id: str
    similarity: float | None
    text_score: float


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A chunk with its vector."""

    chunk: Chunk
    vector: Vector


class RoundMemory(WireModel):
    """Something a round left behind: a file it used, what a tool found, what was decided."""

    id: str
    workflow_id: str
    run_id: str
    round: int
    kind: MemoryKind
    content: str
    file_id: str | None = None


class RememberedMessage(WireModel):
    """Something a user said that their later questions may be told of; `importance` from 0 to 1, pinned: always."""

    id: str
    workflow_id: str
    content: str
    importance: float
    pinned: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A memory with its ranks, from 1, by meaning, by words and by standing; None: not found that way."""

    message: RememberedMessage
    ranks: tuple[int | None, int | None, int | None]


class WorkflowFact(WireModel):
    """Something a workflow knows: `entity:companyName` → value."""

    workflow_id: str
    key: str
    value: str
    source: MemorySource
