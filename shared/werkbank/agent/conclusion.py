"""Concludes a run in one transaction: cites its sources, sums up, and appends exactly one last event (AG-19)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from werkbank.agent.citing import cited
from werkbank.agent.protocols import AgentDatabase, AgentSession
from werkbank.domain.base import WireModel
from werkbank.domain.events import EventType, RunEvent
from werkbank.domain.runs import Run, RunRef, RunStatus, StoredMessage
from werkbank.streaming.run_stream import RunStreams

_LAST_EVENT: dict[RunStatus, EventType] = {
    "completed": "complete",
    "truncated": "complete",
    "maxRoundsReached": "complete",
    "budgetExceeded": "complete",
    "timedOut": "complete",
    "stalled": "complete",
    "stopped": "stopped",
    "error": "error",
}


# Models of the Internal provider: quoting, not thinking, and the page says so.
_OFFLINE = "internal/"


class Ending(WireModel):
    """Why a run ends; `title` and `detail` are what a person reads when it failed."""

    status: RunStatus
    title: str = ""
    detail: str = ""
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class _Told:
    """Events of one transaction, in order."""

    session: AgentSession
    run: Run
    events: list[RunEvent]

    def tell(self, type: EventType, data: dict[str, JsonValue]) -> None:
        self.events.append(self.session.events.append(self.run.id, type, data))


class Conclusion:
    """Concludes runs; whoever comes second finds nothing left to do."""

    def __init__(self, database: AgentDatabase, streams: RunStreams, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._streams = streams
        self._clock = clock

    def conclude(self, ref: RunRef, ending: Ending) -> bool:
        """End the run, keeping what was written; False if it had ended before. Raises StorageUnavailable."""
        told: list[RunEvent] = []
        with self._database.session(ref.principal) as session:
            run = session.runs.lock_running(ref.run_id)
            if run is None:
                return False
            self._tell_all(_Told(session, run, told), ending)
            session.runs.conclude(run.id, ending.status, ending.title or None)
        self._streams.of(ref).publish(*told)
        return True

    def _tell_all(self, told: _Told, ending: Ending) -> None:
        message = self._final_message(told.session, told.run, ending)
        if message:
            self._tell_message(told, message)
        told.tell("agentSummary", self._summary(told.session, told.run, ending.status))
        data: dict[str, JsonValue] = {"workflowId": told.run.workflow_id, "messageId": message.id if message else None}
        if ending.status == "error":
            data |= {"title": ending.title, "detail": ending.detail, "retryable": ending.retryable}
        else:
            data["status"] = ending.status
        told.tell(_LAST_EVENT[ending.status], data)

    def _tell_message(self, told: _Told, message: StoredMessage) -> None:
        citations = cited(message.content, told.session.citations.of_run(told.run.id))
        told.session.messages.set_citations(message.id, citations)
        told.tell(
            "message",
            {"messageId": message.id, "role": "assistant", "content": message.content, "round": message.round},
        )
        if citations:
            told.tell("citations", {"citations": [dict(citation.to_wire()) for citation in citations]})

    def _final_message(self, session: AgentSession, run: Run, ending: Ending) -> StoredMessage | None:
        """Return the answer; of a run that was cut short, what had been written until then."""
        if ending.status in {"stopped", "error"}:
            interrupted = run.rounds + 1
            text = session.events.streamed_text(run.id, interrupted)
            if text:
                return session.messages.add(StoredMessage.by_model(run, interrupted, text, self._clock(), partial=True))
        last = session.messages.last_answer(run.id)
        return last if last and last.content and not last.tool_calls else None

    def _summary(self, session: AgentSession, run: Run, status: RunStatus) -> dict[str, JsonValue]:
        """Return the run's figures: all its calls have used until now, and what those still going may cost at most."""
        models = [log.model for log in session.runs.rounds(run.id) if log.model]
        used = session.ledger.by_kind(run.id)
        briefing = session.briefings.find(run.id)
        return {
            "status": status,
            "rounds": run.rounds,
            "toolCalls": len(session.tool_calls.of_run(run.id)),
            "inputTokens": sum(total.input_tokens for total in used),
            "outputTokens": sum(total.output_tokens for total in used),
            "costChf": str(run.spent_chf),
            "reservedChf": str(run.reserved_chf),
            "durationMs": int((self._clock() - run.started_at).total_seconds() * 1_000),
            "model": models[-1] if models else None,
            "skills": [skill.name for skill in briefing.skills] if briefing else [],
            "offline": bool(models) and all(model.startswith(_OFFLINE) for model in models),
        }
