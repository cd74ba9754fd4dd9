"""One round: the model is asked once, its answer streamed and stored. Idempotent on (run, round) (AG-23)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

from werkbank.agent.attempt import Attempt, Attempts
from werkbank.agent.briefing import choice_of
from werkbank.agent.entities import EntityCache
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import ChatRequest
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope
from werkbank.domain.base import WireModel
from werkbank.domain.errors import BudgetExceeded, DeadlineTooNear, RetryableProviderError, RunOver
from werkbank.domain.runs import Run, RunRef, RunStatus, StoredMessage
from werkbank.streaming.run_stream import RunStreams
from werkbank.streaming.text_sender import TextSender
from werkbank.tools.registry import Registry

MAX_OUTPUT_TOKENS = 8_192
# An answer that keeps breaking off is given up after this many beginnings.
_MOST_ATTEMPTS = 3
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


class Rounds:
    """Runs rounds."""

    def __init__(
        self,
        attempts: Attempts,
        streams: RunStreams,
        ai: AiService,
        registry: Registry,
        entities: EntityCache,
        clock: Callable[[], datetime],
    ) -> None:
        self._attempts = attempts
        self._streams = streams
        self._ai = ai
        self._registry = registry
        self._entities = entities
        self._clock = clock

    def run(self, ref: RunRef, round: int, timeout_seconds: float) -> Step:
        """Ask the model and store what it says. An answer that is stored already is returned, not asked for again.

        Raises ProviderError types, StorageUnavailable; a run that has ended meanwhile gives a step to `finish`.
        """
        ends_at = self._clock() + timedelta(seconds=timeout_seconds)
        try:
            run, begun = self._attempts.begin(ref, round)
            if isinstance(begun, Attempt):
                answer = self._ask(ref, begun, ends_at)
                self._entities.fill(run, round, begun.found, (ends_at - self._clock()).total_seconds())
            else:
                answer = begun
        except BudgetExceeded:
            return Step(next="finish", round=round, status="budgetExceeded")
        except RunOver:
            return Step(next="finish", round=round, status="stopped")
        except _HandedOverError:
            return Step(next="round", round=round)
        if not answer.tool_calls:
            return Step(next="finish", round=round, status="truncated" if answer.partial else "completed")
        tools = self._tools(run)
        confirm = tools.waiting(answer.tool_calls, run)
        return Step(next="tools", round=round, batches=tools.batches(answer.tool_calls, confirm), confirm=confirm)

    def _tools(self, run: Run) -> Registry:
        return self._registry.active(run.toolboxes, run.closed_toolboxes)

    def _ask(self, ref: RunRef, attempt: Attempt, ends_at: datetime) -> StoredMessage:
        run, round, tools = attempt.run, attempt.round, self._tools(attempt.run)
        may_hand_over = attempt.number < _MOST_ATTEMPTS
        timeout_seconds = (ends_at - self._clock()).total_seconds()
        if timeout_seconds < _LEAST_SECONDS and may_hand_over:
            raise _HandedOverError
        scope = CallScope(run.principal, "agentRound", run_id=run.id, round=round, workflow_id=run.workflow_id)
        request = ChatRequest(
            messages=attempt.messages, max_output_tokens=MAX_OUTPUT_TOKENS, tools=tools.definitions(),
            temperature=run.config.temperature,
        )  # fmt: skip
        with TextSender(self._streams.of(ref), round, attempt.number) as sender:
            try:
                answer = self._ai.chat(
                    scope, request, Operation.AGENT, timeout_seconds=timeout_seconds, on_text=sender.add,
                    choice=choice_of(run, attempt.briefing),
                )  # fmt: skip
            except RetryableProviderError as error:
                if may_hand_over and (sender.is_used or isinstance(error, DeadlineTooNear)):
                    raise _HandedOverError from error
                raise
        called = {call.name for call in answer.assembled.message.tool_calls}
        read_only = frozenset(name for name in called if tools.is_read_only(name))
        return self._attempts.store(ref, attempt, answer, read_only)
