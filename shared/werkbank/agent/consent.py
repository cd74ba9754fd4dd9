"""The user's word on calls that wait for it (AG-24)."""

from typing import Protocol

from werkbank.domain.errors import NotFound
from werkbank.domain.principal import Principal
from werkbank.domain.trace import OpenConfirmation, WaitingCall
from werkbank.domain.unit_of_work import UnitOfWork


class ConsentCalls(Protocol):
    """Waiting calls."""

    def open_confirmations(self) -> tuple[WaitingCall, ...]: ...
    def decide(self, run_id: str, round: int, call_id: str, approved: bool) -> OpenConfirmation | None: ...


class ConsentSession(Protocol):
    """The stores used here."""

    @property
    def tool_calls(self) -> ConsentCalls: ...


class WaitingLoop(Protocol):
    """The state machine that waits."""

    def wake(self, task_token: str) -> None:
        """Let a waiting execution go on; one that waits no longer is left alone."""
        ...


class Consent:
    """Takes decisions. The database is what counts: the state machine is only woken up, and looks there."""

    def __init__(self, database: UnitOfWork[ConsentSession], loop: WaitingLoop) -> None:
        self._database = database
        self._loop = loop

    def waiting(self, principal: Principal) -> tuple[WaitingCall, ...]:
        """Return the principal's calls that wait, the oldest first."""
        with self._database.session(principal) as session:
            return session.tool_calls.open_confirmations()

    def decide(self, principal: Principal, run_id: str, round: int, call_id: str, approved: bool) -> None:
        """Allow or decline a call. Raises NotFound when nobody waits for this decision."""
        with self._database.session(principal) as session:
            call = session.tool_calls.decide(run_id, round, call_id, approved)
        if call is None:
            raise NotFound("Nobody waits for this decision any more.")
        self._loop.wake(call.task_token)
