"""Tells the workspace how a file's indexing goes, and ends its run with exactly one last event."""

from typing import Protocol

from werkbank.domain.events import RunEvent
from werkbank.domain.files import FileItem, FileStatus
from werkbank.domain.runs import Run, RunRef, RunStatus
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.streaming.protocols import EventStore
from werkbank.streaming.run_stream import RunStreams


class IndexRuns(Protocol):
    """Runs as indexing sees them."""

    def lock_running(self, run_id: str) -> Run | None: ...
    def conclude(self, run_id: str, status: RunStatus, reason: str | None) -> None: ...


class IndexReportSession(Protocol):
    """The stores used here."""

    @property
    def runs(self) -> IndexRuns: ...
    @property
    def events(self) -> EventStore: ...


class IndexReport:
    """Reports on indexing runs."""

    def __init__(self, database: UnitOfWork[IndexReportSession], streams: RunStreams) -> None:
        self._database = database
        self._streams = streams

    def progress(self, ref: RunRef, file: FileItem, status: FileStatus, progress: float, reason: str | None) -> None:
        """Emit `indexProgress`; `progress` runs from 0 to 1. Raises RunOver when the run has ended."""
        self._streams.of(ref).emit(
            "indexProgress",
            {
                "fileId": file.id,
                "fileName": file.file_name,
                "status": status,
                "progress": round(progress, 3),
                "reason": reason,
            },
        )

    def complete(self, ref: RunRef, file_id: str) -> None:
        """End the run: the file is indexed. A second call changes nothing."""
        self._conclude(ref, file_id, "completed", None)

    def fail(self, ref: RunRef, file_id: str, reason: str) -> None:
        """End the run: the file cannot be indexed, for a reason that a person reads."""
        self._conclude(ref, file_id, "error", reason)

    def supersede(self, ref: RunRef, file_id: str) -> None:
        """End the run: a newer version of the file is being indexed, or the file is gone."""
        self._conclude(ref, file_id, "stopped", None)

    def _conclude(self, ref: RunRef, file_id: str, status: RunStatus, reason: str | None) -> None:
        told: list[RunEvent] = []
        with self._database.session(ref.principal) as session:
            if session.runs.lock_running(ref.run_id) is None:
                return
            match status:
                case "completed":
                    event = session.events.append(ref.run_id, "complete", {"status": "indexed", "fileId": file_id})
                case "stopped":
                    event = session.events.append(ref.run_id, "stopped", {"fileId": file_id})
                case _:
                    data = {"title": "The file could not be indexed", "detail": reason, "fileId": file_id}
                    event = session.events.append(ref.run_id, "error", dict(data))
            told.append(event)
            session.runs.conclude(ref.run_id, status, reason)
        self._streams.of(ref).publish(*told)
