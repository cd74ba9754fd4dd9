"""Ends a run from the loop: a closing text where it may not go on, the conclusion, then what is remembered of it.

A run that has ended by other means (its user stopped it, or an earlier try died after concluding it) is remembered all
the same: a stopped execution comes here through EventBridge.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from werkbank.agent.closing import Closing
from werkbank.agent.conclusion import Conclusion, Ending
from werkbank.agent.entities import EntityCache
from werkbank.agent.memory import Memory
from werkbank.agent.prompt import LAST_CALLS
from werkbank.agent.protocols import AgentDatabase
from werkbank.domain.runs import Run, RunRef


class Finisher:
    """Finishes runs."""

    def __init__(
        self,
        database: AgentDatabase,
        closing: Closing,
        entities: EntityCache,
        conclusion: Conclusion,
        memory: Memory,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._closing = closing
        self._entities = entities
        self._conclusion = conclusion
        self._memory = memory
        self._clock = clock

    def finish(self, ref: RunRef, ending: Ending, timeout_seconds: float) -> None:
        """End the run unless it has ended, and remember it unless it is remembered. Raises StorageUnavailable."""
        ends_at = self._clock() + timedelta(seconds=timeout_seconds)
        with self._database.session(ref.principal) as session:
            run = session.runs.find(ref.run_id)
        if run is None:
            return
        if run.status == "running":
            if ending.status in LAST_CALLS:
                self._closing.write(run, ending.status, timeout_seconds)
                self._search_last_results(run, ends_at)
            self._conclusion.conclude(ref, ending)
        self._memory.remember(run)

    def _search_last_results(self, run: Run, ends_at: datetime) -> None:
        """Fill the entity cache from the last tools: the round that does it for those before them never came (AG-22).

        Behind the closing text, which has the first claim on the money, and before the costs are summed up.
        """
        if not run.config.entity_cache_enabled:
            return
        with self._database.session(run.principal) as session:
            calls = session.tool_calls.of_run(run.id)
        found = [call for call in calls if call.round == run.rounds]
        self._entities.fill(run, run.rounds + 1, found, (ends_at - self._clock()).total_seconds())
