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
