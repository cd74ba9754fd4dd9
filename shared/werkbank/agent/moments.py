"""The time as it goes on within a run: what waited a week for its user is not told of the old day as today (AG-15)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from werkbank.agent.prompt import time_of_user
from werkbank.domain.runs import Run
from werkbank.domain.trace import ToolCallLog

_OUTDATED_AFTER = timedelta(minutes=10)


def moments(run: Run, calls: Iterable[ToolCallLog]) -> dict[int, str]:
    """Return what is told of the time behind a round's results, by round, where what was told before is outdated.

    It follows from what is stored: in all later rounds the same stands at the same place, so the prompt's prefix stays.
    """
    ended: dict[int, datetime] = {}
    for call in calls:
        if call.run_id == run.id and call.completed_at:
            ended[call.round] = max(call.completed_at, ended.get(call.round, call.completed_at))
    told = run.started_at
    found: dict[int, str] = {}
    for round, moment in sorted(ended.items()):
        if moment - told >= _OUTDATED_AFTER:
            found[round] = time_of_user(moment, run.zone)
            told = moment
    return found
