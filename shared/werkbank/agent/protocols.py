"""What the agent needs from outside."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Protocol

from pydantic import JsonValue

from werkbank.domain.billing import KindTotal
from werkbank.domain.files import FileFolder, FileItem
from werkbank.domain.runs import Briefing, Citation, Run, RunRef, RunStatus, StoredMessage, Workflow
from werkbank.domain.skills import SkillFile
from werkbank.domain.steps import RoundStart, StoredAnswer
from werkbank.domain.trace import AgentRoundLog, Progress, ToolCallLog
from werkbank.domain.unit_of_work import Stepwise, UnitOfWork
from werkbank.knowledge.context import Context
from werkbank.knowledge.protocols import RememberedStore
from werkbank.streaming.protocols import EventStore


class RunStore(Protocol):
    """Runs and the log of their rounds."""

    def add(self, run: Run) -> bool: ...
    def get(self, run_id: str) -> Run: ...
    def find(self, run_id: str) -> Run | None: ...
    def going(self, workflow_id: str) -> tuple[Run, ...]: ...
    def lock_running(self, run_id: str) -> Run | None: ...
    def conclude(self, run_id: str, status: RunStatus, reason: str | None) -> None: ...
    def set_remembered(self, run_id: str) -> None: ...
    def rounds(self, run_id: str) -> tuple[AgentRoundLog, ...]: ...
    def working_time(self, run_id: str) -> timedelta: ...


class MessageStore(Protocol):
    """What was said."""

    def add(self, message: StoredMessage) -> StoredMessage: ...
    def answer(self, run_id: str, round: int) -> StoredMessage | None: ...
    def last_answer(self, run_id: str) -> StoredMessage | None: ...
    def of_workflow(self, workflow_id: str) -> tuple[StoredMessage, ...]: ...
    def set_context(self, message_id: str, context: str) -> str: ...
    def set_citations(self, message_id: str, citations: tuple[Citation, ...]) -> None: ...


class BriefingStore(Protocol):
    """What first rounds have settled."""

    def find(self, run_id: str) -> Briefing | None: ...
    def add(self, run_id: str, briefing: Briefing) -> None: ...
    def skill_files(self) -> Sequence[SkillFile]: ...


class ToolCallStore(Protocol):
    """The ledger of tool calls."""

    def of_run(self, run_id: str) -> tuple[ToolCallLog, ...]: ...


class WorkflowStore(Protocol):
    """Conversations."""

    def ensure(self, workflow_id: str, title: str, instance_id: str | None) -> Workflow: ...
    def get(self, workflow_id: str) -> Workflow: ...


class FileStore(Protocol):
    """Files that a question names."""

    def find(self, file_ids: tuple[str, ...]) -> tuple[FileItem, ...]: ...
    def named_in(self, text: str) -> tuple[FileItem, ...]: ...
    def ids_in(self, folder_ids: Sequence[str]) -> tuple[str, ...]: ...


class FolderStore(Protocol):
    """Folders that a question names."""

    def list(self) -> tuple[FileFolder, ...]: ...


class CitationStore(Protocol):
    """Numbered sources."""

    def of_run(self, run_id: str) -> tuple[Citation, ...]: ...


class LedgerStore(Protocol):
    """What calls have cost, and what dead functions have reserved."""

    def by_kind(self, run_id: str) -> tuple[KindTotal, ...]: ...
    def settle_dead(self) -> None: ...


class MandateStore(Protocol):
    """The mandate's row."""

    def ensure(self, highest_chf: Decimal | None) -> None: ...


class EventLog(EventStore, Protocol):
    """The event log, with what was streamed so far."""

    def streamed_text(self, run_id: str, round: int) -> str: ...


class AgentKnowledge(Protocol):
    """The knowledge as the agent sees it."""

    @property
    def remembered(self) -> RememberedStore: ...


class AgentSession(Protocol):
    """The stores the agent uses."""

    @property
    def briefings(self) -> BriefingStore: ...
    @property
    def citations(self) -> CitationStore: ...
    @property
    def events(self) -> EventLog: ...
    @property
    def files(self) -> FileStore: ...
    @property
    def folders(self) -> FolderStore: ...
    @property
    def knowledge(self) -> AgentKnowledge: ...
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


class AgentSteps(Protocol):
    """What happens at every round."""

    def progress(self, run_id: str, latest: int) -> Progress: ...
    def begin_round(self, run_id: str, round: int) -> RoundStart: ...
    def store_answer(
        self,
        answer: StoredMessage,
        read_only: frozenset[str],
        log: AgentRoundLog,
        told: Sequence[dict[str, JsonValue]],
    ) -> StoredAnswer: ...


class AgentDatabase(UnitOfWork[AgentSession], Stepwise[AgentSteps], Protocol):
    """The database as the agent sees it."""


class RunLoop(Protocol):
    """The state machine that runs the rounds."""

    def start(self, run: RunRef) -> None:
        """Start the loop; a second start of the same run changes nothing. Raises LoopUnavailable."""
        ...

    def stop(self, run: RunRef) -> None:
        """Stop the loop if it is still going. Never raises: it ends by itself once its run has."""
        ...


class QuestionContext(Protocol):
    """Knowledge for a question."""

    def context(self, run: Run, question: StoredMessage, files: Sequence[FileItem], told: Iterable[str]) -> Context:
        """Return memories, outlines and numbered passages, as far as there are; failures are only logged (KS-08).

        `told` are the ids of earlier messages that the model is told anyway.
        """
        ...
