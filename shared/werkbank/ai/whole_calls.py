"""Calls whose answer comes whole: a search, pages, a picture, speech. Part of the gate (AI-05).

A candidate is priced, reserved, called and settled; a fault hands over to the next (AG-11).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeVar

from werkbank.ai.model import Model
from werkbank.ai.pricing import cost_chf, reservation_chf
from werkbank.ai.recovery import Backoff, Recovery, may_fall_back, wait_before_retry
from werkbank.billing.purse import CallScope, Purse
from werkbank.domain.errors import ProviderError
from werkbank.domain.messages import Usage

_LEAST_SECONDS = 1.0


class Billed(Protocol):
    """An answer that says what it is billed by."""

    @property
    def usage(self) -> Usage: ...
    @property
    def units(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Most:
    """The most a call can use; `output_tokens` None: as many as the model can give."""

    input_tokens: int = 0
    output_tokens: int | None = None
    units: int = 1


_Answer = TypeVar("_Answer", bound=Billed)


@dataclass(frozen=True, slots=True)
class WholeCall:
    """One call for somebody. `limit_chf` is what is left of the money, None without a limit.

    A `patient` call follows AG-11's rules for models: it may take all the time, is tried again once, then the next is
    asked, and faults that the user must mend come up at once. Otherwise the rules for APIs behind tools hold, and those
    still to be asked share the time out: one that hangs leaves the next one its part.
    """

    scope: CallScope
    limit_chf: Decimal | None
    most: Most
    ends_at: float
    patient: bool


class WholeCalls:
    """Makes such calls, paid from the purse."""

    def __init__(self, purse: Purse, pause: Callable[[float], None], clock: Callable[[], float]) -> None:
        self._purse = purse
        self._pause = pause
        self._clock = clock

    def first_answer(
        self, call: WholeCall, candidates: Sequence[Model], ask: Callable[[Model, float], _Answer]
    ) -> _Answer:
        """Return the first candidate's answer. `ask` gets the model and the seconds it has.

        Raises BudgetExceeded, ProviderError (the last candidate's).
        """
        if call.patient:
            return self._recovery(call).first_answer(candidates, lambda model: self._once(call, model, 1, ask))
        backoff = Backoff(lambda wait_seconds: self._clock() + wait_seconds < call.ends_at, self._pause)
        return backoff.first_answer(candidates, lambda model, left: self._once(call, model, left, ask))

    def _recovery(self, call: WholeCall) -> Recovery:
        def wait_seconds(error: ProviderError) -> float | None:
            wait = wait_before_retry(error)
            return None if wait is None or self._clock() + wait >= call.ends_at else wait

        def may_ask_another(error: ProviderError) -> bool:
            return self._clock() < call.ends_at and may_fall_back(error)

        return Recovery(wait_seconds, may_ask_another, self._pause)

    def _once(self, call: WholeCall, model: Model, sharing: int, ask: Callable[[Model, float], _Answer]) -> _Answer:
        """Try a model once, in its part of the time that it shares with others."""
        most = call.most
        output_tokens = model.max_output_tokens if most.output_tokens is None else most.output_tokens
        output_tokens = min(output_tokens, model.max_output_tokens)
        amount = reservation_chf(call.limit_chf, model, most.input_tokens, output_tokens, most.units)
        with self._purse.pay(call.scope, model.id, amount) as payment:
            began = self._clock()
            seconds = max((call.ends_at - began) / sharing, _LEAST_SECONDS)
            try:
                answer = ask(model, seconds)
            except ProviderError:
                if self._clock() >= began + seconds:
                    # Given up while the provider was at work: it may bill what nobody waited for.
                    payment.settle(payment.reserved_chf, Usage())
                raise
            payment.settle(cost_chf(model, answer.usage, answer.units) or Decimal(0), answer.usage)
        return answer
