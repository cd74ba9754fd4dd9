"""Decides whether another round may begin: cancel check, then money, rounds, time and progress (AG-04)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

from werkbank.agent.guards import LATEST_CALLS, stall_of
from werkbank.agent.protocols import AgentDatabase
from werkbank.domain.base import WireModel
from werkbank.domain.runs import Run, RunRef, RunStatus


class Verdict(WireModel):
    """What the loop does next; `round` counts from 1."""

    next: Literal["round", "finish"]
    round: int
    status: RunStatus = "running"


class Budget:
    """Watches a run's limits."""

    def __init__(self, database: AgentDatabase, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def check(self, ref: RunRef) -> Verdict:
        """Say whether the next round may begin. Raises NotFound."""
        progress = self._database.step(ref.principal).progress(ref.run_id, LATEST_CALLS)
        verdict = judge(progress.run)
        if verdict.next == "round" and self._is_out_of_time(progress.run):
            return Verdict(next="finish", round=verdict.round, status="timedOut")
        if verdict.next == "round" and stall_of(progress.said, progress.latest_calls):
            return Verdict(next="finish", round=verdict.round, status="stalled")
        return verdict

    def _is_out_of_time(self, run: Run) -> bool:
        limit = timedelta(minutes=run.config.max_minutes)
        # Most runs are over long before; only of the others is it worth asking how long they waited for their user.
        if self._clock() - run.started_at <= limit:
            return False
        with self._database.session(run.principal) as session:
            return session.runs.working_time(run.id) > limit


def judge(run: Run) -> Verdict:
    """Decide from the run's state alone."""
    cap = run.config.max_cost_chf
    following = run.rounds + 1
    if run.status != "running":
        return Verdict(next="finish", round=following, status=run.status)
    if cap is not None and run.spent_chf >= cap - run.closing_chf > 0:
        return Verdict(next="finish", round=following, status="budgetExceeded")
    if run.rounds >= run.max_rounds:
        return Verdict(next="finish", round=following, status="maxRoundsReached")
    return Verdict(next="round", round=following)
