"""Takes a question: writes conversation, message and run, then starts the loop."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from werkbank.agent.protocols import AgentDatabase, AgentSession, RunLoop
from werkbank.domain.errors import InvalidInput, NotFound
from werkbank.domain.events import RunEvent
from werkbank.domain.ids import derived_id, is_id, new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run, RunRef, RunRequest, StoredMessage
from werkbank.domain.sessions import Session
from werkbank.knowledge.importance import ALWAYS, importance
from werkbank.streaming.run_stream import RunStreams

_TITLE_LENGTH = 80


class Starter:
    """Starts runs."""

    def __init__(
        self,
        database: AgentDatabase,
        streams: RunStreams,
        loop: RunLoop,
        mandate_limit_chf: Decimal | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._streams = streams
        self._loop = loop
        self._mandate_limit_chf = mandate_limit_chf
        self._clock = clock

    def start(self, principal: Principal, request: RunRequest, origin: Session) -> RunRef:
        """Start answering; the same `run_id` twice is one run. `origin` is what the edge knows, not what it was told.

        Raises InvalidInput for ids in no valid form, NotFound for files, conversations or run ids that are not theirs.
        """
        run = self._new_run(principal, request, origin)
        ref = RunRef(run_id=run.id, mandate_id=principal.mandate_id, user_id=principal.user_id)
        with self._database.session(principal) as session:
            session.mandates.ensure(self._mandate_limit_chf)
            session.ledger.settle_dead()
            started = self._write(session, principal, request, run)
        if started:
            self._streams.of(ref).publish(started)
        # Also for a repeated request: the first one may have died right here.
        self._loop.start(ref)
        return ref

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

    def _write(self, session: AgentSession, principal: Principal, request: RunRequest, run: Run) -> RunEvent | None:
        """Write everything a run starts with; None when it was written before."""
        assert run.workflow_id
        title = " ".join(request.prompt.split())[:_TITLE_LENGTH]
        workflow = session.workflows.ensure(run.workflow_id, title, request.instance_id)
        file_ids = self._files(session, request)
        if not session.runs.add(run):
            session.runs.get(run.id)  # somebody else's run of this id looks like none
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

    def _files(self, session: AgentSession, request: RunRequest) -> tuple[str, ...]:
        """Return the files a question is about: attached ones and those it names with `@` (AG-01)."""
        attached = session.files.find(request.file_ids)
        missing = set(request.file_ids) - {item.id for item in attached}
        if missing:
            raise NotFound(f"The attached file {sorted(missing)[0]} does not exist, or it is not yours.")
        named = session.files.mentioned_in(request.prompt) if "@" in request.prompt else ()
        return tuple(dict.fromkeys(item.id for item in (*attached, *named)))
