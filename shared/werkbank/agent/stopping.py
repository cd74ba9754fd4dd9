"""Stops questions that are being answered (AG-20): first their end is written, then their loop ends."""

from typing import Protocol

from werkbank.agent.conclusion import Conclusion, Ending
from werkbank.agent.protocols import RunLoop
from werkbank.domain.errors import Conflict
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run, RunRef
from werkbank.domain.unit_of_work import UnitOfWork


class StoppableRuns(Protocol):
    """Runs as stopping sees them."""

    def get(self, run_id: str) -> Run: ...
    def going(self, workflow_id: str) -> tuple[Run, ...]: ...


class StoppingSession(Protocol):
    """The stores used here."""

    @property
    def runs(self) -> StoppableRuns: ...


class Stopping:
    """Stops runs."""

    def __init__(self, database: UnitOfWork[StoppingSession], conclusion: Conclusion, loop: RunLoop) -> None:
        self._database = database
        self._conclusion = conclusion
        self._loop = loop

    def stop(self, principal: Principal, run_id: str) -> None:
        """Stop a question, keeping what was written; one that has ended stays as it is.

        Raises NotFound, Conflict for what is no question, StorageUnavailable.
        """
        with self._database.session(principal) as session:
            run = session.runs.get(run_id)
        if run.kind != "agent":
            raise Conflict("This is the indexing of a file, which cannot be stopped. Delete the file if need be.")
        self._end(run)

    def stop_all(self, principal: Principal, workflow_id: str) -> None:
        """Stop what is being answered in a conversation. Raises StorageUnavailable."""
        with self._database.session(principal) as session:
            going = session.runs.going(workflow_id)
        for run in going:
            self._end(run)

    def _end(self, run: Run) -> None:
        ref = RunRef.of(run)
        self._conclusion.conclude(ref, Ending(status="stopped"))
        self._loop.stop(ref)
