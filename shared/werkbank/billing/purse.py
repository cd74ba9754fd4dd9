"""The purse one call is paid from: reserve before it, settle or release after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from werkbank.billing.protocols import LedgerDatabase
from werkbank.domain.billing import ChargeKind, Preflight, Reservation
from werkbank.domain.ids import new_id
from werkbank.domain.messages import Usage
from werkbank.domain.principal import Principal


@dataclass(frozen=True, slots=True)
class CallScope:
    """Whom a call is made for and what it is booked under; a run's closing text may use what is kept for it."""

    principal: Principal
    kind: ChargeKind
    run_id: str | None = None
    round: int | None = None
    workflow_id: str | None = None
    is_closing: bool = False


class Payment:
    """A reservation being turned into a settled charge. Unsettled at the end, it is released: no call took place."""

    def __init__(self, reserved_chf: Decimal) -> None:
        self.reserved_chf = reserved_chf
        self.settled: tuple[Decimal, Usage] | None = None

    def settle(self, cost_chf: Decimal, usage: Usage) -> None:
        """Say what the call really cost."""
        self.settled = (cost_chf, usage)


class Purse:
    """Pays for model calls out of a run's cap and its mandate's limit."""

    def __init__(self, database: LedgerDatabase) -> None:
        self._database = database

    def preflight(self, scope: CallScope) -> Preflight:
        """Return what a call under this scope may use and how much of the money is left for it."""
        return self._database.step(scope.principal).preflight(scope.run_id, is_closing=scope.is_closing)

    @contextmanager
    def pay(self, scope: CallScope, model: str, amount_chf: Decimal) -> Iterator[Payment]:
        """Hold a reservation around a call. Raises BudgetExceeded before the call when it is not affordable."""
        reservation = Reservation(
            id=new_id(), amount_chf=amount_chf, kind=scope.kind, model=model, run_id=scope.run_id, round=scope.round,
            workflow_id=scope.workflow_id, is_closing=scope.is_closing,
        )  # fmt: skip
        step = self._database.step(scope.principal)
        step.reserve(reservation)
        payment = Payment(amount_chf)
        try:
            yield payment
        finally:
            if payment.settled:
                step.settle(reservation.id, *payment.settled)
            else:
                step.release(reservation.id)
