"""What a page may say over its socket: run, stop, resume, ping. Anything else is answered with a problem.

What answers a frame itself has no place in a run's log, so its `seq` is 0: `error`, a problem (RFC 9457), ends what the
frame was about; `more` ends the answer to a `resume` that was cut, which goes on after `afterSeq`.
"""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from werkbank.agent.start import Starter
from werkbank.agent.stopping import Stopping
from werkbank.domain.base import WireModel
from werkbank.domain.errors import InvalidInput, WerkbankError
from werkbank.domain.events import RunEvent
from werkbank.domain.ids import is_id
from werkbank.domain.principal import Principal
from werkbank.domain.problems import UNEXPECTED, Problem, problem_of
from werkbank.domain.runs import Run, RunRequest
from werkbank.domain.sessions import WORKSPACE
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.observability import logger

PONG = b'{"type":"pong"}'
# Sent one by one within the 29 s of the socket's function; a client that is told of more asks again.
MOST_MISSED = 500
_MOST_SEQ = 2**31 - 1


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
    after_seq: int = Field(default=0, ge=0, le=_MOST_SEQ)


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

    def after(self, run_id: str, seq: int, limit: int) -> tuple[RunEvent, ...]: ...


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
        stopping: Stopping,
        encode: Callable[[RunEvent], bytes],
    ) -> None:
        self._database = database
        self._starter = starter
        self._stopping = stopping
        self._encode = encode

    def handle(self, principal: Principal, body: str) -> Iterator[bytes]:
        """Act on one frame (hostile text). Never raises: whatever is wrong becomes a problem event, or the page would
        send the frame again and again."""
        try:
            yield from self._act(principal, _parse(body))
        except WerkbankError as error:
            yield problem_event(problem_of(error), _run_id(body))
        except Exception as error:
            logger.error("frame failed", extra={"error": type(error).__name__})
            yield problem_event(UNEXPECTED, _run_id(body))

    def _act(self, principal: Principal, frame: Frame) -> Iterator[bytes]:
        match frame:
            case RunFrame():
                ref, is_new = self._starter.start(principal, frame, WORKSPACE)
                if not is_new:  # whoever asks again has not heard of it
                    yield from self._missed(principal, ref.run_id, 0)
            case StopFrame(run_id=run_id):
                self._stopping.stop(principal, run_id)
            case ResumeFrame(run_id=run_id, after_seq=after_seq):
                yield from self._missed(principal, run_id, after_seq)
            case PingFrame():
                yield PONG

    def _missed(self, principal: Principal, run_id: str, after_seq: int) -> Iterator[bytes]:
        """Yield the events after a number, and the word that there are more where these are not all (EV-02)."""
        with self._database.session(principal) as session:
            run = session.runs.get(run_id)
            events = session.events.after(run_id, after_seq, MOST_MISSED + 1)
        self._starter.begin(run)
        yield from (self._encode(event) for event in events[:MOST_MISSED])
        if len(events) > MOST_MISSED:
            yield _told("more", run_id, {"afterSeq": events[MOST_MISSED - 1].seq, "lastSeq": run.last_seq})


def problem_event(problem: Problem, run_id: str | None) -> bytes:
    """Return a problem as an event that belongs to no run's log (seq 0); `run_id` is the one the frame was about."""
    return _told("error", run_id, problem.to_wire())


def _told(type: str, run_id: str | None, data: dict[str, JsonValue]) -> bytes:
    """Return what belongs to no run's log."""
    return json.dumps({"runId": run_id, "seq": 0, "type": type, "data": data}).encode()


def _run_id(body: str) -> str | None:
    """Return the run id a frame names, however wrong the rest of it is, so that the page knows what was refused."""
    try:
        frame = json.loads(body)
    except (ValueError, RecursionError):
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
