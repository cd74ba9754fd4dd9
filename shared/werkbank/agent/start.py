"""Takes a question: writes conversation, message and run, then starts the loop."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from werkbank.agent.conclusion import Conclusion, Ending
from werkbank.agent.protocols import AgentDatabase, AgentSession, RunLoop
from werkbank.agent.references import resolve
from werkbank.domain.errors import Conflict, InvalidInput, LoopUnavailable, NotFound
from werkbank.domain.events import RunEvent
from werkbank.domain.ids import derived_id, is_id, new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import CORE, TOOLBOXES, Run, RunRef, RunRequest, StoredMessage
from werkbank.domain.sessions import Session
from werkbank.knowledge.importance import ALWAYS, importance
from werkbank.streaming.run_stream import RunStreams

_TITLE_LENGTH = 80
# The number of the event that tells of a new run; what follows comes from its loop.
_STARTED = 1
_NOT_STARTED = "The question could not be started"
_STILL_ANSWERED = (
    "The last question of this conversation is still being answered, or waits for your consent. "
    "Wait for its end or stop it, then ask again; or ask in another conversation."
)


class Starter:
    """Starts runs."""

    def __init__(
        self,
        database: AgentDatabase,
        streams: RunStreams,
        conclusion: Conclusion,
        loop: RunLoop,
        mandate_limit_chf: Decimal | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._streams = streams
        self._conclusion = conclusion
        self._loop = loop
        self._mandate_limit_chf = mandate_limit_chf
        self._clock = clock

    def start(self, principal: Principal, request: RunRequest, origin: Session) -> tuple[RunRef, bool]:
        """Start answering; return the run, and whether it is new: the same `run_id` twice is one run.

        `origin` is what the edge knows, not what it was told. Raises InvalidInput for ids in no valid form and for
        tools that do not exist, NotFound for files, conversations or run ids that are not theirs, Conflict while the
        conversation's last question is being answered, StorageUnavailable.
        """
        _check_tools(request)
        run = self._new_run(principal, request, origin)
        with self._database.session(principal) as session:
            session.mandates.ensure(self._mandate_limit_chf)
            session.ledger.settle_dead()
            started = self._write(session, request, run)
            stored = run if started else session.runs.get(run.id)
        if stored.kind != "agent":
            raise Conflict("This run id is taken: it is the indexing of a file. Ask with another one.")
        self.begin(stored)
        ref = RunRef.of(stored)
        if started:
            self._streams.of(ref).publish(started)
        return ref, started is not None

    def begin(self, run: Run) -> None:
        """Start the loop of a question that shows no sign of it yet; where that fails, the run ends and tells why.

        Whoever wrote the run may have died before it came to this, so anyone who asks about it comes here too.
        """
        if run.kind != "agent" or run.status != "running" or run.last_seq > _STARTED:
            return
        ref = RunRef.of(run)
        try:
            self._loop.start(ref)
        except LoopUnavailable as error:
            ending = Ending(status="error", title=_NOT_STARTED, detail=str(error), retryable=True)
            self._conclusion.conclude(ref, ending)

    def _new_run(self, principal: Principal, request: RunRequest, origin: Session) -> Run:
        for name, given in (("runId", request.run_id), ("workflowId", request.workflow_id)):
            if given is not None and not is_id(given):
                raise InvalidInput(f"{name} must be a UUID in lower case, such as {new_id()}.")
        run_id = request.run_id or new_id()
        return Run(
            id=run_id, mandate_id=principal.mandate_id, user_id=principal.user_id, kind="agent",
            workflow_id=request.workflow_id or derived_id("workflow", run_id), config=request.config,
            roles=principal.roles, zone=principal.zone, language=principal.language,
            session_id=origin.id, trusted=origin.trusted, started_at=self._clock(),
        )  # fmt: skip

    def _write(self, session: AgentSession, request: RunRequest, run: Run) -> RunEvent | None:
        """Write everything a run starts with; None when it was written before."""
        assert run.workflow_id
        if session.runs.find(run.id):
            return None
        title = " ".join(request.prompt.split())[:_TITLE_LENGTH]
        workflow = session.workflows.ensure(run.workflow_id, title, request.instance_id)
        # The conversation is locked by now. One question at a time: each is told what all before it came to.
        if any(other.id != run.id for other in session.runs.going(workflow.id)):
            raise Conflict(_STILL_ANSWERED)
        file_ids = _file_ids(session, request, run)
        if not session.runs.add(run):
            return None
        # What came in from outside is nothing that its user said: it may not have itself remembered.
        weight = importance(request.prompt) if run.trusted else None
        message = session.messages.add(
            StoredMessage(
                id=derived_id("message", run.id, "0", "user"),
                workflow_id=workflow.id,
                run_id=run.id,
                round=0,
                role="user",
                content=request.prompt,
                trusted=run.trusted,
                file_ids=file_ids,
                importance=weight,
                pinned=weight is not None and weight >= ALWAYS,
                created_at=run.started_at,
            )
        )
        data: dict[str, JsonValue] = {
            "status": "started",
            "workflowId": workflow.id,
            "messageId": message.id,
            "title": workflow.title,
            "pinned": message.pinned,
        }
        return session.events.append(run.id, "status", data)


def _file_ids(session: AgentSession, request: RunRequest, run: Run) -> tuple[str, ...]:
    """Return the files a question is about: attached ones and those its user names with `@` (AG-01)."""
    attached = [item.id for item in session.files.find(request.file_ids)]
    missing = set(request.file_ids).difference(attached)
    if missing:
        raise NotFound(f"The attached file {sorted(missing)[0]} does not exist, or it is not yours.")
    # What came in from outside may not choose what of its reader's goes into a prompt.
    named = resolve(session, request.prompt).file_ids if run.trusted else ()
    return tuple(dict.fromkeys((*attached, *named)))


def _check_tools(request: RunRequest) -> None:
    """Raise NotFound for data sources, InvalidInput for a tool set or toolboxes that do not exist (AG-01, AG-03)."""
    if request.data_source_ids:
        raise NotFound(f"There is no data source {request.data_source_ids[0]}, or it is not yours.")
    if request.config.tool_set != CORE:
        raise InvalidInput(f"There is no tool set “{request.config.tool_set}”. There is: {CORE}.")
    unknown = sorted(set(request.config.initial_toolboxes) - TOOLBOXES)
    if unknown:
        raise InvalidInput(f"There is no toolbox “{unknown[0]}”. There are: {', '.join(sorted(TOOLBOXES))}.")
