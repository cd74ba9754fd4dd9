"""One round: the model is asked once, its answer streamed and stored. Idempotent on (run, round) (AG-23)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import JsonValue

from werkbank.agent.briefing import Briefer, choice_of
from werkbank.agent.entities import EntityCache
from werkbank.agent.history import conversation
from werkbank.agent.prompt import question_context
from werkbank.agent.protocols import AgentDatabase, AgentSession
from werkbank.agent.question import Question
from werkbank.agent.recent import recent
from werkbank.agent.summarization import Summaries
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import ChatRequest
from werkbank.ai.selector import ModelChoice
from werkbank.ai.service import AiService, Answer
from werkbank.billing.purse import CallScope
from werkbank.domain.base import WireModel
from werkbank.domain.errors import BudgetExceeded, DeadlineTooNear, RetryableProviderError, RunOver
from werkbank.domain.messages import Message, ToolCall
from werkbank.domain.runs import Briefing, Run, RunRef, RunStatus, StoredMessage
from werkbank.domain.trace import AgentRoundLog, ToolCallLog
from werkbank.streaming.run_stream import RunStreams
from werkbank.streaming.text_sender import TextSender
from werkbank.tools.registry import Registry

MAX_OUTPUT_TOKENS = 8_192
# An answer that keeps breaking off is given up after this many beginnings.
_MOST_ATTEMPTS = 3
_SUMMARY_SECONDS = 60.0
# With less time left than this for the model, a fresh invocation takes the round over.
_LEAST_SECONDS = 20.0


class Step(WireModel):
    """Where the loop goes after a round: `round` means the same one again, in a fresh invocation.

    `batches` are call ids, batches one after the other, each batch at once; those in `confirm` wait for consent.
    """

    next: Literal["tools", "finish", "round"]
    round: int
    status: RunStatus = "running"
    batches: tuple[tuple[str, ...], ...] = ()
    confirm: frozenset[str] = frozenset()


class _HandedOverError(Exception):
    """A fresh invocation is to begin the round anew: this one has no time left, or its answer broke off in mid-text."""


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt at one round; `found` is what the tools of the round before it said."""

    run: Run
    round: int
    attempt: int
    begun: datetime
    briefing: Briefing
    messages: tuple[Message, ...]
    found: tuple[ToolCallLog, ...]


class Rounds:
    """Runs rounds."""

    def __init__(
        self,
        database: AgentDatabase,
        streams: RunStreams,
        ai: AiService,
        registry: Registry,
        question: Question,
        briefer: Briefer,
        summaries: Summaries,
        entities: EntityCache,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._streams = streams
        self._ai = ai
        self._registry = registry
        self._question = question
        self._briefer = briefer
        self._summaries = summaries
        self._entities = entities
        self._clock = clock

    def run(self, ref: RunRef, round: int, timeout_seconds: float) -> Step:
        """Ask the model and store what it says. An answer that is stored already is returned, not asked for again.

        Raises ProviderError types, StorageUnavailable; a run that has ended meanwhile gives a step to `finish`.
        """
        ends_at = self._clock() + timedelta(seconds=timeout_seconds)
        try:
            run, begun = self._begin(ref, round)
            answer = self._ask(ref, begun, ends_at) if isinstance(begun, _Try) else begun
            if isinstance(begun, _Try):  # an answer that was stored before has had its turn
                self._entities.fill(run, round, begun.found, (ends_at - self._clock()).total_seconds())
        except BudgetExceeded:
            return Step(next="finish", round=round, status="budgetExceeded")
        except RunOver:
            return Step(next="finish", round=round, status="stopped")
        except _HandedOverError:
            return Step(next="round", round=round)
        if not answer.tool_calls:
            return Step(next="finish", round=round, status="completed")
        tools = self._tools(run)
        confirm = tools.waiting(answer.tool_calls, run)
        return Step(next="tools", round=round, batches=tools.batches(answer.tool_calls, confirm), confirm=confirm)

    def _tools(self, run: Run) -> Registry:
        return self._registry.active(run.toolboxes, run.closed_toolboxes)

    def _ask(self, ref: RunRef, attempt: _Try, ends_at: datetime) -> StoredMessage:
        run, round = attempt.run, attempt.round
        may_hand_over = attempt.attempt < _MOST_ATTEMPTS
        timeout_seconds = (ends_at - self._clock()).total_seconds()
        if timeout_seconds < _LEAST_SECONDS and may_hand_over:
            raise _HandedOverError
        scope = CallScope(run.principal, "agentRound", run_id=run.id, round=round, workflow_id=run.workflow_id)
        request = ChatRequest(
            messages=attempt.messages, max_output_tokens=MAX_OUTPUT_TOKENS, tools=self._tools(run).definitions(),
            temperature=run.config.temperature,
        )  # fmt: skip
        with TextSender(self._streams.of(ref), round, attempt.attempt) as sender:
            try:
                answer = self._ai.chat(
                    scope, request, Operation.AGENT, timeout_seconds=timeout_seconds, on_text=sender.add,
                    choice=choice_of(run, attempt.briefing),
                )  # fmt: skip
            except RetryableProviderError as error:
                if may_hand_over and (sender.is_used or isinstance(error, DeadlineTooNear)):
                    raise _HandedOverError from error
                raise
        return self._store(ref, attempt, answer, elapsed_ms(attempt.begun, self._clock()))

    def _begin(self, ref: RunRef, round: int) -> tuple[Run, _Try | StoredMessage]:
        """Load what the model is to see, or the answer that is there; the first round fixes the question's context."""
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
            attempt = session.runs.begin_round(run.id, round)
            if attempt > 1:
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
        return run, _Try(run, round, attempt, begun, briefing, told, found)

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

    def _store(self, ref: RunRef, attempt: _Try, answer: Answer, duration_ms: int) -> StoredMessage:
        """Store the answer, the calls it asks for and the round's log in one transaction."""
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
                    attempts=attempt.attempt,
                    model=answer.model.id,
                    instead_of=instead_of,
                    stop_reason=answer.assembled.stop_reason,
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                    cached_input_tokens=usage.cached_input_tokens,
                    cost_chf=answer.cost_chf,
                    duration_ms=duration_ms,
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

    def _fallbacks(self, attempt: _Try, answer: Answer, instead_of: str | None) -> Iterator[dict[str, JsonValue]]:
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


def elapsed_ms(begun: datetime, ended: datetime) -> int:
    """Return the milliseconds between two moments."""
    return int((ended - begun).total_seconds() * 1_000)
