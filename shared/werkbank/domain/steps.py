"""What a step of the loop gets from the database in one go."""

from werkbank.domain.base import WireModel
from werkbank.domain.events import RunEvent
from werkbank.domain.runs import Briefing, Run, StoredMessage
from werkbank.domain.trace import ToolCallLog


class RoundStart(WireModel):
    """A round about to be tried: the run, its whole conversation, the calls of this run, what its first round settled.

    `attempt` counts from 1; None where there is nothing to begin, the answer being stored or the run over. `event`
    tells of the first attempt.
    """

    run: Run
    attempt: int | None
    event: RunEvent | None
    messages: tuple[StoredMessage, ...]
    calls: tuple[ToolCallLog, ...]
    briefing: Briefing | None


class StoredAnswer(WireModel):
    """An answer as it is stored now, which an earlier attempt may have done, and the events that tell of it."""

    answer: StoredMessage
    events: tuple[RunEvent, ...]


class Claim(WireModel):
    """A call and its run; `event` tells that it begins, and is None for whoever was not the first to claim it."""

    run: Run
    call: ToolCallLog
    event: RunEvent | None
