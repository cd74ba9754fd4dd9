"""One attempt at a round: what the model is to see is loaded and settled before it, what it said is stored after it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from werkbank.agent.briefing import Briefer
from werkbank.agent.history import conversation
from werkbank.agent.prompt import question_context
from werkbank.agent.protocols import AgentDatabase
from werkbank.agent.question import Question
from werkbank.agent.recent import recent
from werkbank.agent.references import resolve
from werkbank.agent.results import readable
from werkbank.agent.summarization import Summaries
from werkbank.ai.answer import Answer
from werkbank.ai.operations import Operation
from werkbank.ai.selector import ModelChoice
from werkbank.ai.service import AiService
from werkbank.domain.errors import RunOver
from werkbank.domain.messages import Message, ToolCall
from werkbank.domain.runs import Briefing, Run, RunRef, StoredMessage
from werkbank.domain.steps import RoundStart
from werkbank.domain.trace import AgentRoundLog, ToolCallLog
from werkbank.streaming.run_stream import RunStreams

_SUMMARY_SECONDS = 60.0
# An answer that ends like this is not at its end.
_BROKEN_OFF = frozenset({"length", "refusal"})


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
        start = self._database.step(ref.principal).begin_round(ref.run_id, round)
        run, attempt = start.run, start.attempt
        if attempt is None:
            return run, _stored(start, round)
        if start.event:
            self._streams.of(ref).publish(start.event)
        position, question = _question(start)
        earlier = start.messages[:position]
        briefing = start.briefing or self._briefer.settle(run, question, earlier)
        # The model routed to, not the one that happened to answer: what is recent must not change from round to round.
        window = self._ai.context_window(Operation.AGENT, ModelChoice(run.config.model, briefing.complexity))
        # Nothing that a run which began later, or ended late, has put behind the question.
        own = [message for message in start.messages if message.run_id == run.id]
        messages = recent((*earlier, *own), run.id, window)
        if question.context is None:
            context = self._fix_context(run, question, [m for m in messages if m.run_id != run.id])
            messages = tuple(_with(message, question.id, context) for message in messages)
        mine = [message for message in messages if message.run_id == run.id]
        calls = readable(start.calls, window)
        folds = self._summaries.fold(run, round, mine, calls, window, _SUMMARY_SECONDS)
        found = tuple(call for call in start.calls if call.round == round - 1)
        told = (briefing.system_message(), *conversation(messages, calls, run, folds))
        return run, Attempt(run, round, attempt, begun, briefing, told, found)

    def _fix_context(self, run: Run, question: StoredMessage, earlier: Sequence[StoredMessage]) -> str:
        """Settle what goes with the question, and return it; what another try has settled before stays."""
        with self._database.session(run.principal) as session:
            files = session.files.find(question.file_ids)
            notes = resolve(session, question.content).told() if run.trusted else ""
        knowledge = self._question.gather(run, question, files, notes, earlier)
        with self._database.session(run.principal) as session:
            return session.messages.set_context(question.id, question_context(run.started_at, run.zone, knowledge))

    def store(self, ref: RunRef, attempt: Attempt, answer: Answer, read_only: frozenset[str]) -> StoredMessage:
        """Store the answer, the calls it asks for and the round's log in one transaction; return what is stored.

        `read_only` are the tools among the calls that change nothing. Raises RunOver when the run has ended,
        StorageUnavailable.
        """
        run, spoken, usage = attempt.run, answer.assembled.message, answer.assembled.usage
        earlier = {call.id for message in attempt.messages for call in message.tool_calls}
        said = StoredMessage.by_model(
            run, attempt.round, spoken.content, self._clock(),
            tool_calls=_distinct(spoken.tool_calls, earlier, attempt.round), provider_data=spoken.provider_data,
            partial=answer.assembled.stop_reason in _BROKEN_OFF and not spoken.tool_calls,
        )  # fmt: skip
        instead_of = _instead_of(attempt.briefing, answer)
        log = AgentRoundLog(
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
        )
        told = list(self._fallbacks(attempt, answer, instead_of))
        stored = self._database.step(run.principal).store_answer(said, read_only, log, told)
        self._streams.of(ref).publish(*stored.events)
        return stored.answer

    def _fallbacks(self, attempt: Attempt, answer: Answer, instead_of: str | None) -> Iterator[dict[str, JsonValue]]:
        """Yield what a person is told, once a run, of a configuration that had to be replaced (AG-13)."""
        before, workflow_id = attempt.briefing, attempt.run.workflow_id
        if instead_of is not None and (before.instead_of, before.answered_by) != (instead_of, answer.model.id):
            yield {"status": "lastGood", "workflowId": workflow_id, "insteadOf": instead_of, **_named(answer)}
        if self._ai.has_earlier_keys and before.answered_by is None:
            yield {"status": "earlierKeys", "workflowId": workflow_id, **_named(answer)}


def _stored(start: RoundStart, round: int) -> StoredMessage:
    """Return what the run's model said in a round. Raises RunOver when it has said nothing, the run being over."""
    for message in start.messages:
        if (message.run_id, message.role, message.round) == (start.run.id, "assistant", round):
            return message
    raise RunOver("the run has ended")


def _question(start: RoundStart) -> tuple[int, StoredMessage]:
    """Return the run's question and its position in the conversation."""
    positions = enumerate(start.messages)
    return next(place for place in positions if (place[1].run_id, place[1].role) == (start.run.id, "user"))


def _with(message: StoredMessage, question_id: str, context: str) -> StoredMessage:
    return message.model_copy(update={"context": context}) if message.id == question_id else message


def _named(answer: Answer) -> dict[str, JsonValue]:
    return {"model": answer.model.id, "label": answer.model.label}


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
