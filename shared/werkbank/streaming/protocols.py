"""What streaming needs from outside."""

from typing import Protocol

from pydantic import JsonValue

from werkbank.domain.events import EventType, RunEvent
from werkbank.domain.unit_of_work import UnitOfWork


class EventStore(Protocol):
    """The event log."""

    def append(self, run_id: str, type: EventType, data: dict[str, JsonValue]) -> RunEvent:
        """Append an event to a running run. Raises RunOver when the run has ended."""
        ...


class StreamSession(Protocol):
    """The stores streaming uses."""

    @property
    def events(self) -> EventStore: ...


StreamDatabase = UnitOfWork[StreamSession]


class Push(Protocol):
    """Sends to a person's open pages."""

    def expect(self, user_id: str) -> None:
        """Get ready to send to the user without delay. Never raises."""
        ...

    def push(self, user_id: str, event: RunEvent) -> None:
        """Send an event to every connection of the user. Never raises: what is missed is replayed from the log."""
        ...
