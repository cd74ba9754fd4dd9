"""A run: one question being answered, or one file being indexed."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from werkbank.domain.base import WireModel
from werkbank.domain.ids import derived_id
from werkbank.domain.messages import Message, ToolCall
from werkbank.domain.principal import Principal
from werkbank.domain.sessions import WORKSPACE, Session

# However often a model asks for more.
MAX_ROUNDS = 100
# The toolbox every run starts with, the one that reaches out to the web, and all there are (TB-02).
CORE, WEB = "core", "web"
TOOLBOXES = frozenset({CORE, WEB})
# What a column of the database holds (`numeric(14, 6)`).
_MOST_CHF = 99_999_999

# What a question asks of a model: one fact or phrase, ordinary work, several steps of thought.
Complexity = Literal["simple", "moderate", "complex"]
SkillOrigin = Literal["shipped", "mandate", "personal"]
RunKind = Literal["agent", "index"]
RunStatus = Literal[
    "running", "completed", "truncated", "maxRoundsReached", "budgetExceeded", "timedOut", "stalled", "stopped", "error"
]


class AgentConfig(WireModel):
    """How far a run may go (AG-03). `max_cost_chf` None means no cap but the mandate's.

    `max_minutes` is working time: what a run waits for its user does not count. `entity_cache_enabled` keeps what tools
    found as facts (AG-22): true lets a model extract them, `rules` never does.
    """

    max_rounds: int = Field(default=25, ge=1, le=MAX_ROUNDS)
    max_cost_chf: Decimal | None = Field(default=None, ge=0, le=_MOST_CHF, alias="maxCostCHF")
    max_minutes: int = Field(default=60, ge=1, le=24 * 60)
    tool_set: str = Field(default=CORE, max_length=64)
    model: str | None = Field(default=None, max_length=200)
    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    entity_cache_enabled: bool | Literal["rules"] = False
    operation_type: Literal["agent"] = "agent"
    initial_toolboxes: tuple[Annotated[str, Field(max_length=64)], ...] = Field(default=(), max_length=50)
    exclude_action_tools: bool = False


class RunRequest(WireModel):
    """A person's question as it arrives on the socket; `run_id` made by the client makes a repeated frame harmless."""

    run_id: str | None = None
    workflow_id: str | None = None
    prompt: str = Field(min_length=1, max_length=100_000)
    file_ids: tuple[str, ...] = Field(default=(), max_length=100)
    data_source_ids: tuple[str, ...] = Field(default=(), max_length=100)
    instance_id: str | None = None
    config: AgentConfig = AgentConfig()


class Run(WireModel):
    """A run as stored. `rounds` counts finished model calls; `extra_rounds` are those the model asked for (AG-08).

    A sub-agent's run is part of the one that `parent_id` names and draws on its money. Of its cap, and of its mandate's
    limit, `closing_chf` is kept for the closing text. `web_search_enabled` is what held for its user when it began
    (WS-07). `trusted` tells whether what started the run are its user's own words (AG-16). `remembered_at` is since
    when later questions can be told what it found (AG-17).
    """

    id: str
    mandate_id: str
    user_id: str
    workflow_id: str | None = None
    file_id: str | None = None
    parent_id: str | None = None
    kind: RunKind
    status: RunStatus = "running"
    config: AgentConfig = AgentConfig()
    roles: frozenset[str] = frozenset()
    zone: str = "UTC"
    language: str = "en"
    session_id: str = WORKSPACE.id
    trusted: bool = WORKSPACE.trusted
    rounds: int = 0
    extra_rounds: int = 0
    granted_toolboxes: tuple[str, ...] = ()
    web_search_enabled: bool = True
    last_seq: int = 0
    spent_chf: Decimal = Decimal(0)
    reserved_chf: Decimal = Decimal(0)
    closing_chf: Decimal = Decimal(0)
    abort_reason: str | None = None
    started_at: datetime
    completed_at: datetime | None = None
    remembered_at: datetime | None = None

    @property
    def session(self) -> Session:
        """Return the session the run belongs to."""
        return Session(self.session_id, self.trusted)

    @property
    def max_rounds(self) -> int:
        """Return how many rounds the run may have, with those it was granted on top."""
        return min(self.config.max_rounds + self.extra_rounds, MAX_ROUNDS)

    @property
    def toolboxes(self) -> tuple[str, ...]:
        """Return the toolboxes the run has beside the core."""
        return (*self.config.initial_toolboxes, *self.granted_toolboxes)

    @property
    def closed_toolboxes(self) -> frozenset[str]:
        """Return the toolboxes the run may not have, whoever asks for them (WS-07)."""
        return frozenset() if self.web_search_enabled else frozenset({WEB})

    @property
    def principal(self) -> Principal:
        """Return whom the run acts for."""
        return Principal(
            user_id=self.user_id, mandate_id=self.mandate_id, roles=self.roles, zone=self.zone, language=self.language
        )


class SkillUse(WireModel):
    """A skill in a run's system prompt and where it is from: Werkbank itself, or a file of the mandate or the user."""

    name: str
    origin: SkillOrigin
    file_id: str | None = None


class Briefing(WireModel):
    """What is settled in a run's first round and holds to its end, so that the prompt's prefix stays identical (AG-18).

    `answered_by`, `instead_of` and `answered_under` tell of the latest round's model: its id, that of the one the
    configuration asked for where it stood in for a broken choice, and the version of the keys whose address it did that
    at where they have changed since (AG-13).
    """

    complexity: Complexity
    skills: tuple[SkillUse, ...] = ()
    system_prompt: str
    answered_by: str | None = None
    instead_of: str | None = None
    answered_under: str | None = None

    def system_message(self) -> Message:
        """Return what every call of the run begins with."""
        return Message(role="system", content=self.system_prompt)


class RunRef(WireModel):
    """The ids that travel through a state machine, never content (256 kB limit). Other keys are ignored."""

    model_config = ConfigDict(extra="ignore")

    run_id: str
    mandate_id: str
    user_id: str

    @property
    def principal(self) -> Principal:
        """Return who the run acts for, as far as row-level security needs to know."""
        return Principal(user_id=self.user_id, mandate_id=self.mandate_id)

    @classmethod
    def of(cls, run: Run) -> "RunRef":
        """Return the ids of a run."""
        return cls(run_id=run.id, mandate_id=run.mandate_id, user_id=run.user_id)


class RoundRef(RunRef):
    """A round of a run; `round` counts from 1."""

    round: int


class ToolCallRef(RoundRef):
    """A tool call of a round."""

    call_id: str


class IndexRef(RunRef):
    """The indexing of a file."""

    file_id: str


class Source(WireModel):
    """What an answer may cite: a passage of a file, or a page of the web (`url`, with its title as `file_name`).

    `chunk_id` tells sources apart: a chunk's id, or one derived from a page.
    """

    chunk_id: str
    file_id: str | None = None
    url: str | None = None
    file_name: str
    place: str
    quote: str
    ref: dict[str, JsonValue]


class Citation(Source):
    """A numbered source of a run: `[number]` in the answer."""

    number: int


class StoredMessage(WireModel):
    """What a person or the model said, as kept in the conversation.

    `context` is what the model is told along with a question (time, files, passages); it is fixed when the question
    is first put, so that the prefix of later calls stays identical. `importance` (0 to 1) makes what a person said a
    memory that later questions may be told of, `pinned` one that they always are. `trusted` is its run's.
    """

    id: str
    workflow_id: str
    run_id: str
    round: int
    role: Literal["user", "assistant"]
    content: str
    trusted: bool = True
    context: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    provider_data: dict[str, JsonValue] | None = None
    file_ids: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    partial: bool = False
    importance: float | None = None
    pinned: bool = False
    created_at: datetime

    @classmethod
    def by_model(
        cls,
        run: Run,
        round: int,
        content: str,
        at: datetime,
        *,
        tool_calls: tuple[ToolCall, ...] = (),
        provider_data: dict[str, JsonValue] | None = None,
        partial: bool = False,
    ) -> "StoredMessage":
        """Return what the model said in a round of an agent's run; the same round always has the same message id."""
        assert run.workflow_id, "only agents' runs have messages"
        return cls(
            id=derived_id("message", run.id, str(round), "assistant"),
            workflow_id=run.workflow_id,
            run_id=run.id,
            round=round,
            role="assistant",
            content=content,
            tool_calls=tool_calls,
            provider_data=provider_data,
            partial=partial,
            created_at=at,
        )


class Workflow(WireModel):
    """A conversation."""

    id: str
    mandate_id: str
    user_id: str
    instance_id: str | None = None
    title: str
    created_at: datetime
    updated_at: datetime
