"""The event log of a run, numbered without gaps."""

import psycopg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import JsonValue

from werkbank.domain.events import EventType, RunEvent


class Events:
    """Appends and replays events of the principal's runs."""

    def __init__(self, connection: psycopg.Connection[DictRow]) -> None:
        self._connection = connection

    def append(self, run_id: str, type: EventType, data: dict[str, JsonValue]) -> RunEvent:
        """Append an event to a running run. Raises RunOver when the run has ended."""
        row = self._connection.execute(
            b"SELECT werkbank.append_event(%s, %s, %s) AS event", (run_id, type, Jsonb(data))
        ).fetchone()
        assert row, "a function returns"
        return RunEvent.model_validate_json(row["event"])

    def after(self, run_id: str, seq: int, limit: int = 10_000) -> tuple[RunEvent, ...]:
        """Return the events after a number, in order."""
        rows = self._connection.execute(
            b"SELECT run_id, seq, type, at, data FROM run_event WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s",
            (run_id, seq, limit),
        ).fetchall()
        return tuple(RunEvent.model_validate(row) for row in rows)

    def streamed_text(self, run_id: str, round: int) -> str:
        """Return the text that was streamed in a round, as its latest attempt told it."""
        rows = self._connection.execute(
            b"""SELECT data ->> 'text' AS text, (data ->> 'attempt')::int AS attempt FROM run_event
                WHERE run_id = %s AND type = 'chunk' AND (data ->> 'round')::int = %s ORDER BY seq""",
            (run_id, round),
        ).fetchall()
        latest = max((row["attempt"] for row in rows), default=0)
        return "".join(row["text"] for row in rows if row["attempt"] == latest)
