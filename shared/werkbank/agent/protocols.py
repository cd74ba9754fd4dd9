"""What the agent needs from outside."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Protocol

from werkbank.domain.files import FileItem
from werkbank.domain.messages import ToolCall
from werkbank.domain.runs import Citation, Run, RunRef, RunStatus, StoredMessage, Workflow
from werkbank.domain.trace import AgentRoundLog, ToolCallLog
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.streaming.protocols import EventStore


class RunStore(Protocol):
    """Runs and the log of their rounds."""

    def add(self, run: Run) -> bool: ...
    def get(self, run_id: str) -> Run: ...
    def find(self, run_id: str) -> Run | None: ...
    def lock_running(self, run_id: str) -> Run | None: ...
    def conclude(self, run_id: str, status: RunStatus, reason: str | None) -> None: ...
    def begin_round(self, run_id: str, round: int) -> int: ...
    def end_round(self, run_id: str, log: AgentRoundLog) -> None: ...
    def rounds(self, run_id: str) -> tuple[AgentRoundLog, ...]: ...


class MessageStore(Protocol):
    """What was said."""

    def add(self, message: StoredMessage) -> StoredMessage: ...
    def answer(self, run_id: str, round: int) -> StoredMessage | None: ...
    def last_answer(self, run_id: str) -> StoredMessage | None: ...
    def said(self, run_id: str) -> tuple[str, ...]: ...
    def of_workflow(self, workflow_id: str) -> tuple[StoredMessage, ...]: ...
    def set_context(self, message_id: str, context: str) -> None: ...
    def set_citations(self, message_id: str, citations: tuple[Citation, ...]) -> None: ...


class ToolCallStore(Protocol):
    """The ledger of tool calls."""

    def request(self, run_id: str, round: int, calls: Iterable[ToolCall]) -> None: ...
    def of_run(self, run_id: str) -> tuple[ToolCallLog, ...]: ...
    def latest(self, run_id: str, count: int) -> tuple[ToolCallLog, ...]: ...
    def count(self, run_id: str) -> int: ...


class WorkflowStore(Protocol):
    """Conversations."""

    def ensure(self, workflow_id: str, title: str, instance_id: str | None) -> Workflow: ...
    def get(self, workflow_id: str) -> Workflow: ...


class FileStore(Protocol):
    """Files that a question names."""

    def find(self, file_ids: tuple[str, ...]) -> tuple[FileItem, ...]: ...
    def mentioned_in(self, prompt: str) -> tuple[FileItem, ...]: ...


class CitationStore(Protocol):
    """Numbered sources."""

    def of_run(self, run_id: str) -> tuple[Citation, ...]: ...


class LedgerStore(Protocol):
    """What an earlier, dead try has reserved."""

    def settle_abandoned(self, run_id: str, round: int) -> None: ...


class MandateStore(Protocol):
    """The mandate's row."""

    def ensure(self, limit_chf: Decimal | None) -> None: ...


class EventLog(EventStore, Protocol):
    """The event log, with what was streamed so far."""

    def streamed_text(self, run_id: str, round: int) -> str: ...


class AgentSession(Protocol):
    """The stores the agent uses."""

    @property
    def citations(self) -> CitationStore: ...
    @property
    def events(self) -> EventLog: ...
    @property
    def files(self) -> FileStore: ...
    @property
    def ledger(self) -> LedgerStore: ...
    @property
    def mandates(self) -> MandateStore: ...
    @property
    def messages(self) -> MessageStore: ...
    @property
    def runs(self) -> RunStore: ...
    @property
    def tool_calls(self) -> ToolCallStore: ...
    @property
    def workflows(self) -> WorkflowStore: ...


AgentDatabase = UnitOfWork[AgentSession]


class RunLoop(Protocol):
    """The state machine that runs the rounds."""

    def start(self, run: RunRef) -> None:
        """Start the loop; a second start of the same run changes nothing."""
        ...

    def stop(self, run: RunRef) -> None:
        """Stop the loop if it is still going."""
        ...


class QuestionContext(Protocol):
    """Knowledge for a question."""

    def passages(self, run: Run, prompt: str, files: Sequence[FileItem]) -> str:
        """Return a block of numbered passages and outlines, or nothing; failures are logged, never raised (KS-08)."""
        ...
