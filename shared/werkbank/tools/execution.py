"""Runs one tool call: claimed before its effect, its outcome stored exactly once (AG-10, AG-23)."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from time import monotonic
from typing import Protocol

from pydantic import JsonValue

from werkbank.domain.errors import Conflict, DocumentError, RunOver, StorageUnavailable, ToolError, UserError
from werkbank.domain.events import EventType, RunEvent
from werkbank.domain.ids import derived_id
from werkbank.domain.runs import Run, RunRef
from werkbank.domain.steps import Claim
from werkbank.domain.trace import NOT_ALLOWED, OUTCOME_UNKNOWN, ToolCallLog, ToolCallStatus
from werkbank.domain.unit_of_work import Stepwise, UnitOfWork
from werkbank.observability import count, logger
from werkbank.streaming.protocols import EventStore
from werkbank.streaming.run_stream import RunStream, RunStreams
from werkbank.tools.context import CallOrder, Objects, PassageSearch, ToolContext, ToolSession
from werkbank.tools.registry import Registry
from werkbank.websearch.protocols import WebAccess

# What a model can usefully read at once; the rest is offered by page or line range.
MAX_RESULT_CHARACTERS = 24_000
# A frame of the socket holds 32 kB: the page shows the beginning, the log holds all.
MAX_SHOWN_CHARACTERS = 2_000


class ToolCallLedger(CallOrder, Protocol):
    """The ledger of tool calls."""

    def await_consent(self, run_id: str, round: int, call_id: str, task_token: str) -> ToolCallLog | None: ...
    def renew_token(self, run_id: str, round: int, call_id: str, task_token: str) -> ToolCallLog | None: ...


class ExecutionSession(ToolSession, Protocol):
    """The stores execution uses, those of the tools included."""

    @property
    def tool_calls(self) -> ToolCallLedger: ...
    @property
    def events(self) -> EventStore: ...


class CallSteps(Protocol):
    """What happens at every call."""

    def claim_call(self, run_id: str, round: int, call_id: str, shown: int) -> Claim: ...
    def complete_call(
        self,
        run_id: str,
        round: int,
        call_id: str,
        status: ToolCallStatus,
        result: str,
        duration_ms: int,
        told: dict[str, JsonValue],
    ) -> RunEvent | None: ...


class ExecutionDatabase(UnitOfWork[ExecutionSession], Stepwise[CallSteps], Protocol):
    """The database as execution sees it."""


class ToolExecution:
    """Executes tool calls of runs."""

    def __init__(
        self,
        database: ExecutionDatabase,
        streams: RunStreams,
        registry: Registry,
        objects: Objects,
        passages: PassageSearch,
        web: WebAccess,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._streams = streams
        self._registry = registry
        self._objects = objects
        self._passages = passages
        self._web = web
        self._clock = clock

    def execute(self, ref: RunRef, round: int, call_id: str) -> None:
        """Run the call unless its outcome is stored; of a run that has ended, no call begins.

        What had begun by then comes to its end, and its outcome is stored for the trace and for later questions.

        Raises NotFound for calls nobody asked for, StorageUnavailable.
        """
        stream = self._streams.of(ref)
        try:
            claim = self._database.step(ref.principal).claim_call(ref.run_id, round, call_id, MAX_SHOWN_CHARACTERS)
            if claim.event:
                stream.publish(claim.event)
            if claim.call.status in {"claimed", "requested"}:
                self._run(stream, claim)
        except RunOver:
            logger.info("run ended before its tool call", extra={"runId": ref.run_id, "callId": call_id})

    def ask_consent(self, ref: RunRef, round: int, call_id: str, task_token: str) -> None:
        """Ask the user whether a call may run; the token wakes the loop up when they have decided.

        Asked once: a repeated request only brings a new token. Raises StorageUnavailable, and Conflict when the user
        has decided already (or nobody asked for the call), since then nobody will use the token.
        """
        told: list[RunEvent] = []
        stream = self._streams.of(ref)
        try:
            with self._database.session(ref.principal) as session:
                call = session.tool_calls.await_consent(ref.run_id, round, call_id, task_token)
                if call:
                    asking = session.runs.get(ref.run_id)
                    data: dict[str, JsonValue] = {
                        "callId": call_id,
                        "round": round,
                        "name": call.name,
                        "arguments": call.arguments[:MAX_SHOWN_CHARACTERS],
                        "truncated": len(call.arguments) > MAX_SHOWN_CHARACTERS,
                        "sessionId": asking.session_id,
                        "trusted": asking.trusted,
                    }
                    told.append(session.events.append(ref.run_id, "confirmation", data))
                elif session.tool_calls.renew_token(ref.run_id, round, call_id, task_token) is None:
                    raise Conflict("This call does not wait for a decision any more.")
        except RunOver:
            logger.info("run ended before its tool call", extra={"runId": ref.run_id, "callId": call_id})
        stream.publish(*told)

    def _run(self, stream: RunStream, claim: Claim) -> None:
        count("tool_calls_total")
        begun = monotonic()
        status, result = self._outcome(stream, claim)
        duration_ms = int((monotonic() - begun) * 1_000)
        if len(result) > MAX_RESULT_CHARACTERS:
            cut = len(result) - MAX_RESULT_CHARACTERS
            result = f"{result[:MAX_RESULT_CHARACTERS]}\n… {cut} more characters; ask for a smaller part to read on."
        self._store(stream, claim.call, status, result, duration_ms)

    def _outcome(self, stream: RunStream, claim: Claim) -> tuple[ToolCallStatus, str]:
        """Run the handler; every fault becomes a result that the model can act on."""
        run, call, is_first = claim.run, claim.call, claim.event is not None
        try:
            tool = self._tools(run).get(call.name)
            # Whatever the loop did, nothing runs that its user was to decide and has not allowed, or has declined.
            if not call.approved and (call.approved is False or tool.waits(run)):
                return "failed", NOT_ALLOWED
            if not is_first and not tool.safe_to_repeat:
                return "unknown", OUTCOME_UNKNOWN
            return "succeeded", tool.call(self._context(stream, run, call), call.arguments)
        except StorageUnavailable:
            raise
        except (ToolError, UserError, DocumentError) as error:
            return "failed", str(error)
        except Exception as error:
            logger.exception("tool failed", extra={"tool": call.name, "runId": run.id})
            return "failed", f"{call.name} failed unexpectedly ({type(error).__name__}). Try another way."

    def _tools(self, run: Run) -> Registry:
        return self._registry.active(run.toolboxes, run.closed_toolboxes)

    def _context(self, stream: RunStream, run: Run, call: ToolCallLog) -> ToolContext:
        key = derived_id("tool", call.run_id, str(call.round), call.call_id)

        def emit(type: EventType, data: dict[str, JsonValue]) -> None:
            with suppress(RunOver):  # what a tool has done it reports, though nobody is told any more
                stream.emit(type, data)

        return ToolContext(
            run, call, key, self._database, self._objects, self._passages, self._web, emit, self._clock,
        )  # fmt: skip

    def _store(
        self, stream: RunStream, call: ToolCallLog, status: ToolCallStatus, result: str, duration_ms: int
    ) -> None:
        data: dict[str, JsonValue] = {
            "callId": call.call_id, "round": call.round, "name": call.name, "success": status == "succeeded",
            "summary": result[:MAX_SHOWN_CHARACTERS], "durationMs": duration_ms,
        }  # fmt: skip
        step = self._database.step(stream.run.principal)
        told = step.complete_call(call.run_id, call.round, call.call_id, status, result, duration_ms, data)
        if told:
            stream.publish(told)
