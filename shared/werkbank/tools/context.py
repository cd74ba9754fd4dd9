"""What a tool gets to work with: whom it works for, and the few things it may touch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pydantic import JsonValue

from werkbank.domain.documents import ContentObject
from werkbank.domain.events import EventType
from werkbank.domain.files import FileFolder, FileItem
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Citation, Run, Source, StoredMessage
from werkbank.domain.trace import ToolCallLog
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.knowledge.model import FileIndex, ObjectFilter
from werkbank.websearch.protocols import WebAccess


class FileStore(Protocol):
    """Files as tools see them."""

    def add(self, item: FileItem) -> FileItem: ...
    def get(self, file_id: str) -> FileItem: ...
    def lock(self, file_id: str) -> None: ...
    def list(
        self,
        *,
        folder_id: str | None = None,
        tag: str | None = None,
        mime_type: str | None = None,
        search: str | None = None,
        limit: int = 500,
    ) -> tuple[FileItem, ...]: ...
    def set_content(self, file_id: str, object_key: str, size: int, mime_type: str) -> None: ...


class FolderStore(Protocol):
    """Folders as tools see them."""

    def list(self) -> tuple[FileFolder, ...]: ...


class ContentStore(Protocol):
    """The indexed content of files."""

    def index_of(self, file_id: str) -> FileIndex | None: ...
    def objects(self, file_id: str, narrow: ObjectFilter) -> Sequence[ContentObject]: ...


class CitationStore(Protocol):
    """Numbers the sources of a run."""

    def of_run(self, run_id: str) -> tuple[Citation, ...]: ...
    def number(self, run_id: str, sources: Sequence[Source]) -> list[int]: ...


class SkillStore(Protocol):
    """Tells skills from other files."""

    def is_skill(self, file_id: str) -> bool: ...


class RunGrants(Protocol):
    """Runs as tools see them."""

    def get(self, run_id: str) -> Run: ...
    def grant_rounds(self, run_id: str, rounds: int) -> Run: ...
    def grant_toolbox(self, run_id: str, toolbox: str) -> None: ...


class MessageReader(Protocol):
    """What was said, as tools see it."""

    def of_workflow(self, workflow_id: str) -> tuple[StoredMessage, ...]: ...


class CallOrder(Protocol):
    """The calls of a round."""

    def is_first_of_its_tool(self, call: ToolCallLog) -> bool: ...


class ToolSession(Protocol):
    """The stores tools use."""

    @property
    def briefings(self) -> SkillStore: ...
    @property
    def runs(self) -> RunGrants: ...
    @property
    def citations(self) -> CitationStore: ...
    @property
    def files(self) -> FileStore: ...
    @property
    def folders(self) -> FolderStore: ...
    @property
    def knowledge(self) -> ContentStore: ...
    @property
    def messages(self) -> MessageReader: ...
    @property
    def tool_calls(self) -> CallOrder: ...


class Objects(Protocol):
    """The bytes of files."""

    def get(self, key: str) -> bytes: ...
    def put(self, key: str, data: bytes, content_type: str) -> None: ...


class PassageSearch(Protocol):
    """Search over the indexed content of files."""

    def search_block(self, run: Run, query: str, file_ids: Sequence[str], limit: int) -> str:
        """Return numbered passages, ready to be read and cited; an empty text when there are none."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """One call's surroundings. `idempotency_key` is the same for every try of the same call (AG-23)."""

    run: Run
    call: ToolCallLog
    idempotency_key: str
    database: UnitOfWork[ToolSession]
    objects: Objects
    passages: PassageSearch
    web: WebAccess
    emit: Callable[[EventType, dict[str, JsonValue]], None]
    clock: Callable[[], datetime]

    @property
    def principal(self) -> Principal:
        """Return whom the call is made for."""
        return self.run.principal

    @property
    def approved(self) -> bool:
        """Tell whether the user was asked about this very call and has allowed it (AG-24)."""
        return bool(self.call.approved)

    @property
    def is_first_of_its_tool(self) -> bool:
        """Tell whether no earlier call of the round is to the same tool: what is told once a round, it tells."""
        with self.database.session(self.principal) as session:
            return session.tool_calls.is_first_of_its_tool(self.call)

    @property
    def session_id(self) -> str:
        """Return where the run comes from (AG-16): `_session_id`, which no argument of a model can set."""
        return self.run.session_id

    @property
    def untrusted_source(self) -> bool:
        """Tell whether something other than its user's words started the run (AG-16): `_untrusted_source`."""
        return not self.run.trusted
