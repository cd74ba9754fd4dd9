"""What a run tells while it works (EV-01), numbered without gaps (EV-02)."""

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from werkbank.domain.base import WireModel

EventType = Literal[
    "message", "status", "chunk", "toolCall", "toolResult", "agentProgress", "agentSummary", "fileCreated",
    "citations", "confirmation", "filler", "indexProgress", "complete", "stopped", "error",
]  # fmt: skip

TERMINAL_EVENTS: frozenset[EventType] = frozenset({"complete", "stopped", "error"})


class RunEvent(WireModel):
    """One event; `seq` counts from 1 within its run, and is 0 for what is told but stands in no log (a filler)."""

    run_id: str
    seq: int
    type: EventType
    at: datetime
    data: dict[str, JsonValue]
