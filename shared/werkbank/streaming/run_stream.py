"""The events of one run: first into the log, then to the page."""

from pydantic import JsonValue

from werkbank.domain.events import EventType, RunEvent
from werkbank.domain.runs import RunRef
from werkbank.domain.time import utc_now
from werkbank.streaming.protocols import Push, StreamDatabase


class RunStream:
    """Tells what one run does."""

    def __init__(self, database: StreamDatabase, push: Push, run: RunRef) -> None:
        self._database = database
        self._push = push
        self.run = run

    def emit(self, type: EventType, data: dict[str, JsonValue]) -> RunEvent:
        """Store an event and push it. Raises RunOver when the run has ended."""
        event = self._database.step(self.run.principal).append_event(self.run.run_id, type, data)
        self.publish(event)
        return event

    def mention(self, type: EventType, data: dict[str, JsonValue]) -> None:
        """Push what is told and forgotten; standing in no log, it has no number of its own (seq 0). Never raises."""
        self.publish(RunEvent(run_id=self.run.run_id, seq=0, type=type, at=utc_now(), data=data))

    def expect(self) -> None:
        """Get ready to emit without delay."""
        self._push.expect(self.run.user_id)

    def publish(self, *events: RunEvent) -> None:
        """Push events that were appended within somebody's own transaction, after it has committed."""
        for event in events:
            self._push.push(self.run.user_id, event)


class RunStreams:
    """Makes the stream of a run."""

    def __init__(self, database: StreamDatabase, push: Push) -> None:
        self._database = database
        self._push = push

    def of(self, run: RunRef) -> RunStream:
        """Return the stream of a run."""
        return RunStream(self._database, self._push, run)
