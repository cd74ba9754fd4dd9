"""What a page may say over its socket: run, stop, resume, ping. Anything else is answered with a problem."""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from werkbank.agent.conclusion import Conclusion, Ending
from werkbank.agent.protocols import RunLoop
from werkbank.agent.start import Starter
from werkbank.domain.base import WireModel
from werkbank.domain.errors import InvalidInput, WerkbankError
from werkbank.domain.events import RunEvent
from werkbank.domain.ids import is_id
from werkbank.domain.principal import Principal
from werkbank.domain.problems import Problem, problem_of
from werkbank.domain.runs import Run, RunRef, RunRequest
from werkbank.domain.sessions import WORKSPACE
from werkbank.domain.unit_of_work import UnitOfWork

PONG = b'{"type":"pong"}'


class RunFrame(RunRequest):
    """`{"action": "run", …}`: the fields of a run request."""

    action: Literal["run"]


class StopFrame(WireModel):
    """`{"action": "stop", "runId": …}`"""

    action: Literal["stop"]
    run_id: str


class ResumeFrame(WireModel):
    """`{"action": "resume", "runId": …, "afterSeq": …}`"""

    action: Literal["resume"]
    run_id: str
    after_seq: int = Field(default=0, ge=0)


class PingFrame(WireModel):
    """`{"action": "ping"}`: keeps the connection from its ten idle minutes."""

    model_config = ConfigDict(extra="ignore")
    action: Literal["ping"]


Frame = RunFrame | StopFrame | ResumeFrame | PingFrame
_FRAME: TypeAdapter[Frame] = TypeAdapter(Annotated[Frame, Field(discriminator="action")])


class RunReader(Protocol):
    """Runs as frames see them."""

    def get(self, run_id: str) -> Run: ...


class EventReader(Protocol):
    """The event log as frames see it."""

    def after(self, run_id: str, seq: int) -> tuple[RunEvent, ...]: ...


class FrameSession(Protocol):
    """The stores frames use."""

    @property
    def runs(self) -> RunReader: ...
    @property
    def events(self) -> EventReader: ...


class Frames:
    """Acts on frames; what it yields goes back to the connection that sent the frame."""

    def __init__(
        self,
        database: UnitOfWork[FrameSession],
        starter: Starter,
        conclusion: Conclusion,
        loop: RunLoop,
        encode: Callable[[RunEvent], bytes],
    ) -> None:
        self._database = database
        self._starter = starter
        self._conclusion = conclusion
        self._loop = loop
        self._encode = encode

    def handle(self, principal: Principal, body: str) -> Iterator[bytes]:
        """Act on one frame (hostile text). Never raises a WerkbankError: it becomes a problem event."""
        try:
            yield from self._act(principal, _parse(body))
        except WerkbankError as error:
            yield problem_event(problem_of(error), _run_id(body))

    def _act(self, principal: Principal, frame: Frame) -> Iterator[bytes]:
        match frame:
            case RunFrame():
                self._starter.start(principal, frame, WORKSPACE)
            case StopFrame(run_id=run_id):
                ref = self._own_run(principal, run_id)
                self._conclusion.conclude(ref, Ending(status="stopped"))
                self._loop.stop(ref)
            case ResumeFrame(run_id=run_id, after_seq=after_seq):
                yield from self._missed(principal, run_id, after_seq)
            case PingFrame():
                yield PONG

    def _own_run(self, principal: Principal, run_id: str) -> RunRef:
        with self._database.session(principal) as session:
            run = session.runs.get(run_id)
        return RunRef(run_id=run.id, mandate_id=run.mandate_id, user_id=run.user_id)

    def _missed(self, principal: Principal, run_id: str, after_seq: int) -> Iterator[bytes]:
        with self._database.session(principal) as session:
            session.runs.get(run_id)
            events = session.events.after(run_id, after_seq)
        yield from (self._encode(event) for event in events)


def problem_event(problem: Problem, run_id: str | None) -> bytes:
    """Return a problem as an event that belongs to no run's log (seq 0); `run_id` is the one the frame was about."""
    return json.dumps({"runId": run_id, "seq": 0, "type": "error", "data": problem.to_wire()}).encode()


def _run_id(body: str) -> str | None:
    """Return the run id a frame names, however wrong the rest of it is, so that the page knows what was refused."""
    try:
        frame = json.loads(body)
    except ValueError:
        return None
    run_id = frame.get("runId") if isinstance(frame, dict) else None
    return run_id if isinstance(run_id, str) and is_id(run_id) else None


def _parse(body: str) -> Frame:
    try:
        return _FRAME.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "frame"
        raise InvalidInput(f"This message was not understood: {where}: {first['msg']}") from error
