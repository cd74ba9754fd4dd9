"""The full protocol of a run (AG-21, 001 §12.1)."""

from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field

from werkbank.domain.base import WireModel
from werkbank.domain.billing import KindTotal
from werkbank.domain.runs import Complexity, Run, RunStatus, SkillUse

# What the model reads when a call began and nobody knows how it ended: it may have had its effect.
OUTCOME_UNKNOWN = (
    "Outcome unknown: the work was interrupted after this call had begun. It may or may not have had its effect; "
    "check before you repeat it."
)
# What it reads when its user declined a call, or never answered.
NOT_ALLOWED = "The user did not allow this call. Do not try it again; go on without it, or ask what they want instead."

ToolCallStatus = Literal["requested", "claimed", "succeeded", "failed", "unknown"]


class ToolCallLog(WireModel):
    """One tool call as it went; `result` is what the model got to read, `approved` what its user said where asked.

    `read_only` tells that it changes nothing.
    """

    run_id: str
    round: int
    call_id: str
    position: int
    name: str
    arguments: str
    read_only: bool = False
    status: ToolCallStatus
    approved: bool | None = None
    result: str | None = None
    duration_ms: int | None = None
    completed_at: datetime | None = None


class Progress(WireModel):
    """How far a run has come: what the model said, and the last calls it asked for."""

    run: Run
    said: tuple[str, ...]
    latest_calls: tuple[ToolCallLog, ...]


class OpenConfirmation(WireModel):
    """A call that waits for its user's consent. `task_token` wakes the state machine up; it never leaves the server."""

    run_id: str
    round: int
    call_id: str
    name: str
    arguments: str
    asked_at: datetime
    task_token: str = Field(exclude=True)


class WaitingCall(OpenConfirmation):
    """An open confirmation as its user is shown it: whole, with the conversation and the session it comes from.

    `trusted` tells whether what started that session are the user's own words (AG-16).
    """

    workflow_id: str
    title: str
    session_id: str
    trusted: bool


class AgentRoundLog(WireModel):
    """One model call as it went; `instead_of` is the model that was asked for where the last good one stood in.

    `answered_under` is the version of the keys whose address it stood in at, where that is one from before (AG-13).
    """

    round: int
    attempts: int
    model: str | None
    instead_of: str | None = None
    answered_under: str | None = None
    stop_reason: str | None
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    cost_chf: Decimal
    duration_ms: int | None
    tool_calls: tuple[ToolCallLog, ...] = ()


class AgentTrace(WireModel):
    """A run with its rounds and their tool calls; complexity and skills are what its first round settled (AG-18).

    `costs` are all its calls by kind: its rounds', with those of lost attempts, and summaries, searches, facts, memory.
    """

    run_id: str
    workflow_id: str
    user_id: str
    feature_instance_id: str | None = None
    status: RunStatus
    abort_reason: str | None
    complexity: Complexity | None = None
    skills: tuple[SkillUse, ...] = ()
    total_rounds: int
    total_tool_calls: int
    total_cost_chf: Decimal
    started_at: datetime
    completed_at: datetime | None
    costs: tuple[KindTotal, ...] = ()
    rounds: tuple[AgentRoundLog, ...]
