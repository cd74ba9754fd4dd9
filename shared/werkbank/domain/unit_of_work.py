"""How a use case reaches the database: it names the stores it needs, the adapter has them all."""

from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from werkbank.domain.principal import Principal

S_co = TypeVar("S_co", covariant=True)


class UnitOfWork(Protocol[S_co]):
    """Opens transactions that see what a principal may see."""

    def session(self, principal: Principal) -> AbstractContextManager[S_co]:
        """Open one transaction: commits at the end, rolls back on an error."""
        ...


class Stepwise(Protocol[S_co]):
    """Does what a principal's loop does often: each step is a transaction of its own, in one round trip."""

    def step(self, principal: Principal) -> S_co:
        """Return the steps."""
        ...
