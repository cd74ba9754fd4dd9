"""Ends a run from the loop: a closing text where it may not go on, the conclusion, then what is remembered of it."""

from werkbank.agent.closing import Closing
from werkbank.agent.conclusion import Conclusion, Ending
from werkbank.agent.memory import Memory
from werkbank.agent.prompt import LAST_CALLS
from werkbank.agent.protocols import AgentDatabase
from werkbank.domain.runs import RunRef


class Finisher:
    """Finishes runs."""

    def __init__(self, database: AgentDatabase, closing: Closing, conclusion: Conclusion, memory: Memory) -> None:
        self._database = database
        self._closing = closing
        self._conclusion = conclusion
        self._memory = memory

    def finish(self, ref: RunRef, ending: Ending, timeout_seconds: float) -> None:
        """End the run unless it has ended. Raises StorageUnavailable."""
        with self._database.session(ref.principal) as session:
            run = session.runs.find(ref.run_id)
        if run is None or run.status != "running":
            return
        if ending.status in LAST_CALLS:
            self._closing.write(run, ending.status, timeout_seconds)
        if self._conclusion.conclude(ref, ending):
            self._memory.remember(run)
