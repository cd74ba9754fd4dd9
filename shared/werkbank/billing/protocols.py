"""What spending money needs from outside."""

from decimal import Decimal
from typing import Protocol

from werkbank.domain.billing import Reservation
from werkbank.domain.messages import Usage
from werkbank.domain.rights import ModelRight
from werkbank.domain.unit_of_work import UnitOfWork


class LedgerStore(Protocol):
    """The ledger of a mandate."""

    def reserve(self, reservation: Reservation) -> None: ...
    def settle(self, reservation_id: str, cost_chf: Decimal, usage: Usage) -> None: ...
    def release(self, reservation_id: str) -> None: ...
    def remaining(self, run_id: str | None, *, is_closing: bool) -> Decimal | None: ...


class MandateStore(Protocol):
    """The mandate's rules."""

    def model_rights(self) -> tuple[ModelRight, ...]: ...


class LedgerSession(Protocol):
    """The stores that spending uses."""

    @property
    def mandates(self) -> MandateStore: ...
    @property
    def ledger(self) -> LedgerStore: ...


LedgerDatabase = UnitOfWork[LedgerSession]
