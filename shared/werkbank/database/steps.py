"""The loop's steps: each is a function of infra/migrations/0015_steps.sql, one transaction and one round trip."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Protocol, TypeVar

from psycopg.types.json import Jsonb
from pydantic import BaseModel, JsonValue

from werkbank.domain.billing import Preflight, Reservation
from werkbank.domain.errors import NotFound
from werkbank.domain.events import EventType, RunEvent
from werkbank.domain.messages import Usage
from werkbank.domain.runs import MAX_ROUNDS, StoredMessage
from werkbank.domain.steps import Claim, RoundStart, StoredAnswer
from werkbank.domain.trace import AgentRoundLog, Progress, ToolCallStatus

_Model = TypeVar("_Model", bound=BaseModel)


class Call(Protocol):
    """Calls a function of the database as one principal; returns its JSON."""

    def __call__(self, function: str, *arguments: object) -> str | None: ...


class Steps:
    """What one principal's loop does in single steps. All raise StorageUnavailable."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def append_event(self, run_id: str, type: EventType, data: dict[str, JsonValue]) -> RunEvent:
        """Append an event to a running run. Raises RunOver when the run has ended."""
        return self._model(RunEvent, "append_event", run_id, type, Jsonb(data))

    def progress(self, run_id: str, latest: int) -> Progress:
        """Return a run with what its model said and its `latest` calls, without their results. Raises NotFound."""
        return self._model(Progress, "progress", run_id, latest)

    def begin_round(self, run_id: str, round: int) -> RoundStart:
        """Note that a round is being tried, tell of it, and return what it needs.

        Raises NotFound, and RunOver when the run ends at this moment.
        """
        return self._model(RoundStart, "begin_round", run_id, round, MAX_ROUNDS)

    def store_answer(
        self,
        answer: StoredMessage,
        read_only: frozenset[str],
        log: AgentRoundLog,
        told: Sequence[dict[str, JsonValue]],
    ) -> StoredAnswer:
        """Store what the model said in a round, the calls it asks for, how the round went and what is told of it.

        `read_only` are the tools among the calls that change nothing, `told` the data of `status` events.
        Raises RunOver when the run has ended.
        """
        calls = [
            {"id": call.id, "name": call.name, "arguments": call.arguments, "read_only": call.name in read_only}
            for call in answer.tool_calls
        ]
        said = {
            "id": answer.id, "workflow_id": answer.workflow_id, "run_id": answer.run_id, "round": answer.round,
            "role": answer.role, "content": answer.content, "provider_data": answer.provider_data,
            "tool_calls": [call.to_wire() for call in answer.tool_calls], "partial": answer.partial,
            "created_at": answer.created_at.isoformat(),
        }  # fmt: skip
        went = log.model_dump(mode="json")
        return self._model(StoredAnswer, "store_answer", Jsonb(said), Jsonb(calls), Jsonb(went), Jsonb(told))

    def claim_call(self, run_id: str, round: int, call_id: str, shown: int) -> Claim:
        """Claim a call and tell of it with at most `shown` characters of its arguments; a second claim tells nothing.

        Raises NotFound when nobody asked for the call, RunOver when the run has ended.
        """
        return self._model(Claim, "claim_call", run_id, round, call_id, shown)

    def complete_call(
        self,
        run_id: str,
        round: int,
        call_id: str,
        status: ToolCallStatus,
        result: str,
        duration_ms: int,
        told: dict[str, JsonValue],
    ) -> RunEvent | None:
        """Store the outcome of a claimed call and tell of it.

        None where there is nothing to tell: another try has stored one before, or the run has ended meanwhile.
        """
        return self._find(
            RunEvent, "complete_call", run_id, round, call_id, status, result, duration_ms, Jsonb(told)
        )  # fmt: skip

    def preflight(self, run_id: str | None, *, is_closing: bool) -> Preflight:
        """Return what the mandate lets the principal use, and what its run may still reserve.

        That is the least of what the run's cap, its parents' and the mandate's limit leave.
        """
        return self._model(Preflight, "preflight", run_id, is_closing)

    def reserve(self, reservation: Reservation) -> None:
        """Reserve an amount. Raises BudgetExceeded when a cap or the mandate's limit would be passed.

        What costs nothing (the offline model) is never refused.
        """
        self._call(
            "hold", reservation.id, reservation.amount_chf, reservation.kind, reservation.model, reservation.run_id,
            reservation.round, reservation.workflow_id, reservation.is_closing,
        )  # fmt: skip

    def settle(self, reservation_id: str, cost_chf: Decimal, usage: Usage) -> None:
        """Replace a reservation by what the call really cost; a second settlement changes nothing."""
        self._call(
            "settle", reservation_id, cost_chf, usage.input_tokens, usage.output_tokens, usage.cached_input_tokens
        )  # fmt: skip

    def release(self, reservation_id: str) -> None:
        """Give a reservation back: the call did not take place."""
        self._call("settle", reservation_id, None, 0, 0, 0)

    def _model(self, model: type[_Model], function: str, *arguments: object) -> _Model:
        found = self._find(model, function, *arguments)
        if found is None:
            raise NotFound("There is no such run or call, or it is not yours.")
        return found

    def _find(self, model: type[_Model], function: str, *arguments: object) -> _Model | None:
        found = self._call(function, *arguments)
        # A newer schema may have columns that this code does not know.
        return None if found is None else model.model_validate_json(found, extra="ignore")
