"""One attempt at a round: what the model is to see is loaded and settled before it, what it said is stored after it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from werkbank.agent.briefing import Briefer, choice_of
from werkbank.agent.history import conversation
from werkbank.agent.prompt import question_context
from werkbank.agent.protocols import AgentDatabase, AgentSession
from werkbank.agent.question import Question
from werkbank.agent.recent import recent
from werkbank.agent.summarization import Summaries
from werkbank.ai.operations import Operation
from werkbank.ai.selector import ModelChoice
from werkbank.ai.service import AiService, Answer
from werkbank.domain.errors import RunOver
from werkbank.domain.messages import Message, ToolCall
from werkbank.domain.runs import Briefing, Run, RunRef, StoredMessage
from werkbank.domain.trace import AgentRoundLog, ToolCallLog
from werkbank.streaming.run_stream import RunStreams

_SUMMARY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at one round, `number` counts from 1; `found` is what the tools of the round before it said."""

    run: Run
    round: int
    number: int
    begun: datetime
    briefing: Briefing
    messages: tuple[Message, ...]
    found: tuple[ToolCallLog, ...]


class Attempts:
    """Begins attempts and stores what comes of them."""

    def __init__(
        self,
        database: AgentDatabase,
        streams: RunStreams,
        ai: AiService,
        question: Question,
        briefer: Briefer,
        summaries: Summaries,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._streams = streams
        self._ai = ai
        self._question = question
        self._briefer = briefer
        self._summaries = summaries
        self._clock = clock

    def begin(self, ref: RunRef, round: int) -> tuple[Run, Attempt | StoredMessage]:
        """Load what the model is to see, or the answer that is there; the first round fixes the question's context.

        Raises RunOver when the run has ended, StorageUnavailable.
        """
        begun = self._clock()
        with self._database.session(ref.principal) as session:
            run = session.runs.get(ref.run_id)
            messages = self._messages(session, run)
            mine = [message for message in messages if message.run_id == run.id]
            for message in mine:
                if message.role == "assistant" and message.round == round:
                    return run, message
            if run.status != "running":
                raise RunOver(f"run {ref.run_id} has ended")
            number = session.runs.begin_round(run.id, round)
            if number > 1:
                session.ledger.settle_abandoned(run.id, round)
            calls = session.tool_calls.of_run(run.id)
            settled = session.briefings.find(run.id)
        question = next(message for message in mine if message.role == "user")
        earlier = messages[: messages.index(question)]
        briefing = settled or self._briefer.settle(run, question, earlier)
        if question.context is None:
            messages = self._fix_context(run, question, earlier)
        folds = self._summaries.fold(run, round, mine, calls, choice_of(run, briefing), _SUMMARY_SECONDS)
        found = tuple(call for call in calls if call.round == round - 1)
        told = (briefing.system_message(), *conversation(messages, calls, run.id, folds))
        return run, Attempt(run, round, number, begun, briefing, told, found)

    def _fix_context(
        self, run: Run, question: StoredMessage, earlier: Sequence[StoredMessage]
    ) -> tuple[StoredMessage, ...]:
        """Settle what goes with the question, unless another try has; return the conversation with it."""
        with self._database.session(run.principal) as session:
            files = session.files.find(question.file_ids)
        knowledge = self._question.gather(run, question, files, earlier)
        with self._database.session(run.principal) as session:
            session.messages.set_context(question.id, question_context(run.started_at, run.zone, knowledge))
            return self._messages(session, run)

    def _messages(self, session: AgentSession, run: Run) -> tuple[StoredMessage, ...]:
        assert run.workflow_id
        window = self._ai.context_window(Operation.AGENT, ModelChoice(run.config.model))
        return recent(session.messages.of_workflow(run.workflow_id), run.id, window)

    def store(self, ref: RunRef, attempt: Attempt, answer: Answer) -> StoredMessage:
        """Store the answer, the calls it asks for and the round's log in one transaction; return what is stored.

        Raises RunOver when the run has ended, StorageUnavailable.
        """
        run, spoken, usage = attempt.run, answer.assembled.message, answer.assembled.usage
        earlier = {call.id for message in attempt.messages for call in message.tool_calls}
        calls = _distinct(spoken.tool_calls, earlier, attempt.round)
        instead_of = _instead_of(attempt.briefing, answer)
        assert run.workflow_id
        with self._database.session(run.principal) as session:
            session.runs.end_round(
                run.id,
                AgentRoundLog(
                    round=attempt.round,
                    attempts=attempt.number,
                    model=answer.model.id,
                    instead_of=instead_of,
                    answered_under=answer.answered_under,
                    stop_reason=answer.assembled.stop_reason,
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                    cached_input_tokens=usage.cached_input_tokens,
                    cost_chf=answer.cost_chf,
                    duration_ms=_elapsed_ms(attempt.begun, self._clock()),
                ),
            )
            stored = session.messages.add(
                StoredMessage.by_model(
                    run,
                    attempt.round,
                    spoken.content,
                    self._clock(),
                    tool_calls=calls,
                    provider_data=spoken.provider_data,
                )
            )
            # Should two tries have come this far, the answer that was stored first decides what is called.
            session.tool_calls.request(run.id, attempt.round, stored.tool_calls)
            told = [
                session.events.append(run.id, "status", {"workflowId": run.workflow_id, **data})
                for data in self._fallbacks(attempt, answer, instead_of)
            ]
        self._streams.of(ref).publish(*told)
        return stored

    def _fallbacks(self, attempt: Attempt, answer: Answer, instead_of: str | None) -> Iterator[dict[str, JsonValue]]:
        """Yield what a person is told, once a run, of a configuration that had to be replaced (AG-13)."""
        before = attempt.briefing
        if instead_of is not None and (before.instead_of, before.answered_by) != (instead_of, answer.model.id):
            yield {"status": "lastGood", "insteadOf": instead_of, "model": answer.model.id, "label": answer.model.label}
        if self._ai.has_earlier_keys and before.answered_by is None:
            yield {"status": "earlierKeys", "model": answer.model.id, "label": answer.model.label}


def _instead_of(briefing: Briefing, answer: Answer) -> str | None:
    """Return what the answering model stands in for; one that did so in the round before goes on doing it."""
    goes_on = briefing.instead_of is not None and briefing.answered_by == answer.model.id
    return briefing.instead_of if goes_on else answer.instead_of


def _distinct(calls: tuple[ToolCall, ...], taken: set[str], round: int) -> tuple[ToolCall, ...]:
    """Give calls whose id was used before in this run a new one: providers refuse a history with an id twice."""
    distinct: list[ToolCall] = []
    for position, call in enumerate(calls):
        known = taken | {other.id for other in distinct}
        new_id = f"call_{round}_{position}"
        distinct.append(call.model_copy(update={"id": new_id}) if call.id in known else call)
    return tuple(distinct)


def _elapsed_ms(begun: datetime, ended: datetime) -> int:
    """Return the milliseconds between two moments."""
    return int((ended - begun).total_seconds() * 1_000)
