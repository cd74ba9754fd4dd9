"""What streaming needs from outside."""

from typing import Protocol

from pydantic import JsonValue

from werkbank.domain.events import EventType, RunEvent
from werkbank.domain.unit_of_work import Stepwise


class EventStore(Protocol):
    """The event log within somebody's transaction."""

    def append(self, run_id: str, type: EventType, data: dict[str, JsonValue]) -> RunEvent:
        """Append an event to a running run. Raises RunOver when the run has ended."""
        ...


class EventSteps(Protocol):
    """The event log in single steps."""

    def append_event(self, run_id: str, type: EventType, data: dict[str, JsonValue]) -> RunEvent:
        """Append an event to a running run. Raises RunOver when the run has ended."""
        ...


StreamDatabase = Stepwise[EventSteps]


class Push(Protocol):
    """Sends to a person's open pages."""

    def expect(self, user_id: str) -> None:
        """Get ready to send to the user without delay. Never raises."""
        ...

    def push(self, user_id: str, event: RunEvent) -> None:
        """Send an event to every connection of the user. Never raises: what is missed is replayed from the log."""
        ...
