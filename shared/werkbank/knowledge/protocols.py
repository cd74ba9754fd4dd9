"""What the knowledge store asks of the outside: a database, object storage, an embedder."""

from collections.abc import Sequence
from typing import Literal, Protocol

from werkbank.domain.documents import ContentObject, ExtractedDocument
from werkbank.domain.files import FileItem, FileStatus
from werkbank.domain.runs import Source
from werkbank.domain.trace import ToolCallLog
from werkbank.knowledge.model import (
    Candidate,
    Embedded,
    EmbeddedChunk,
    FileIndex,
    FoundPassage,
    ObjectFilter,
    QueryVector,
    RankedMessage,
    RememberedMessage,
    RoundMemory,
    SearchFilter,
    WorkflowFact,
)


class PassageStore(Protocol):
    """Searches the passages of all files that the principal may see."""

    def candidates(
        self, question: str, vector: QueryVector | None, narrow: SearchFilter, limit: int
    ) -> Sequence[Candidate]:
        """Return the best `limit` by similarity and the best `limit` by words, unordered, each once.

        Every candidate has both figures, as far as they exist.
        """
        ...

    def passages(self, scores: dict[str, float]) -> Sequence[FoundPassage]:
        """Return the passages of these chunk ids with the given scores, best first."""
        ...


class MemoryStore(Protocol):
    """What the principal's runs remember."""

    def add_rounds(self, memories: Sequence[RoundMemory], embedded: Embedded | None) -> None:
        """Store memories (vectors in their order); those already stored stay as they are."""
        ...

    def known_files(self, workflow_id: str, limit: int) -> Sequence[RoundMemory]:
        """Return the latest memory of each file that the workflow used, newest first."""
        ...

    def similar_rounds(self, workflow_id: str, vector: QueryVector, limit: int) -> Sequence[RoundMemory]:
        """Return the workflow's tool results and decisions nearest to the vector."""
        ...

    def related_rounds(self, workflow_id: str, vector: QueryVector, limit: int) -> Sequence[RoundMemory]:
        """Return the nearest tool results and decisions of the principal's other workflows."""
        ...

    def set_fact(self, fact: WorkflowFact) -> None:
        """Store what a workflow knows under a key, over what it knew before."""
        ...

    def facts(self, workflow_id: str, limit: int) -> Sequence[WorkflowFact]:
        """Return what the workflow knows, latest first."""
        ...


class RememberedStore(Protocol):
    """What the principal said, in all their conversations."""

    def latest(self, limit: int, *, pinned_only: bool = False) -> Sequence[RememberedMessage]:
        """Return memories, the latest first."""
        ...

    def notable(self, least: float, limit: int) -> Sequence[RememberedMessage]:
        """Return the pinned memories, then those of at least this importance, each the latest first."""
        ...

    def ranked(self, question: str, vector: QueryVector | None, least: float, limit: int) -> Sequence[RankedMessage]:
        """Return the best `limit` of each ranking among memories of at least this importance, unordered, each once."""
        ...

    def set_vector(self, message_id: str, vector: QueryVector) -> None:
        """Let a memory be found by meaning, unless it is forgotten."""
        ...


class KnowledgeStore(Protocol):
    """The knowledge of one principal within one transaction."""

    @property
    def passages(self) -> PassageStore:
        """Return the search."""
        ...

    @property
    def memory(self) -> MemoryStore:
        """Return the memories."""
        ...

    @property
    def remembered(self) -> RememberedStore:
        """Return what the principal said."""
        ...

    def replace_index(
        self, file_id: str, document: ExtractedDocument, chunks: Sequence[EmbeddedChunk], model_id: str
    ) -> None:
        """Put a file's new index in place of its old one, as a whole."""
        ...

    def index_of(self, file_id: str) -> FileIndex | None:
        """Return what is known of a file, None if it is not indexed."""
        ...

    def objects(self, file_id: str, narrow: ObjectFilter) -> Sequence[ContentObject]:
        """Return a file's content objects in reading order."""
        ...


class FileStore(Protocol):
    """The files' rows."""

    def lock(self, file_id: str) -> None:
        """Keep other writers of the file waiting until the transaction ends."""
        ...

    def get(self, file_id: str) -> FileItem:
        """Return a file. Raises NotFound."""
        ...

    def set_status(
        self, file_id: str, status: FileStatus, reason: str | None = None, *, index_run_id: str | None = None
    ) -> None:
        """Record how far indexing has come, and through which run."""
        ...


class CitationStore(Protocol):
    """Numbers the sources of a run."""

    def number(self, run_id: str, sources: Sequence[Source]) -> Sequence[int]:
        """Return each source's number within the run; the same source always has the same one."""
        ...


class ToolCallStore(Protocol):
    """The ledger of tool calls."""

    def cut_short(self, workflow_id: str, limit: int) -> Sequence[ToolCallLog]:
        """Return the latest calls that may have had an effect of which no answer told: their runs were cut short."""
        ...


class KnowledgeSession(Protocol):
    """One transaction."""

    @property
    def citations(self) -> CitationStore:
        """Return the numbered sources."""
        ...

    @property
    def files(self) -> FileStore:
        """Return the files."""
        ...

    @property
    def knowledge(self) -> KnowledgeStore:
        """Return the knowledge."""
        ...

    @property
    def tool_calls(self) -> ToolCallStore:
        """Return the ledger of tool calls."""
        ...


class ObjectStore(Protocol):
    """Bytes under keys."""

    def get(self, key: str) -> bytes:
        """Return an object's bytes. Raises NotFound."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Store an object, over what was there."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object; there may be none."""
        ...


class EmbedTexts(Protocol):
    """Embeds through the gate to the models: some models want questions and passages marked differently."""

    def __call__(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embedded:
        """Return one vector per text. Raises ProviderError, BudgetExceeded."""
        ...
