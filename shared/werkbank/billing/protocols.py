"""What spending money needs from outside."""

from decimal import Decimal
from typing import Protocol

from werkbank.domain.billing import Preflight, Reservation
from werkbank.domain.messages import Usage
from werkbank.domain.unit_of_work import Stepwise


class LedgerSteps(Protocol):
    """The ledger of a mandate."""

    def reserve(self, reservation: Reservation) -> None: ...
    def settle(self, reservation_id: str, cost_chf: Decimal, usage: Usage) -> None: ...
    def release(self, reservation_id: str) -> None: ...
    def preflight(self, run_id: str | None, *, is_closing: bool) -> Preflight: ...


LedgerDatabase = Stepwise[LedgerSteps]
