"""Text goes out in pieces: the first at once, the rest put together, nothing lost (EV-03)."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from werkbank.domain.errors import RunOver
from werkbank.domain.events import EventType, RunEvent
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef
from werkbank.domain.time import utc_now
from werkbank.streaming.run_stream import RunStream
from werkbank.streaming.text_sender import FLUSH_CHARACTERS, MAX_CHARACTERS, TextSender

RUN = RunRef(run_id="r", mandate_id="m", user_id="u")


class Log:
    """An event log in a list; `over` makes the run look ended."""

    def __init__(self) -> None:
        self.events: list[RunEvent] = []
        self.over = False
        self.grew = threading.Event()

    def append_event(self, run_id: str, type: EventType, data: dict[str, JsonValue]) -> RunEvent:
        if self.over:
            raise RunOver("over")
        event = RunEvent(run_id=run_id, seq=len(self.events) + 1, type=type, at=utc_now(), data=data)
        self.events.append(event)
        self.grew.set()
        return event

    def expect(self, user_id: str) -> None: ...
    def push(self, user_id: str, event: RunEvent) -> None: ...


class Database:
    def __init__(self, log: Log) -> None:
        self._log = log

    def step(self, principal: Principal) -> Log:
        return self._log


def sender(log: Log) -> TextSender:
    return TextSender(RunStream(Database(log), log, RUN), round=1, attempt=2)


def texts(log: Log) -> list[str]:
    return [str(event.data["text"]) for event in log.events]


@settings(max_examples=25)
@given(st.lists(st.text(min_size=1, max_size=300), max_size=30))
def test_nothing_is_lost_or_reordered(pieces: list[str]) -> None:
    log = Log()
    with sender(log) as open_sender:
        for piece in pieces:
            open_sender.add(piece)
    assert "".join(texts(log)) == "".join(pieces)
    assert all(event.data["attempt"] == 2 for event in log.events)


def test_first_piece_leaves_at_once() -> None:
    log = Log()
    with sender(log) as open_sender:
        open_sender.add("First")
        assert log.grew.wait(10)
        assert texts(log) == ["First"]


def test_fast_model_is_put_together() -> None:
    log = Log()
    with sender(log) as open_sender:
        for _ in range(2_000):
            open_sender.add("word ")
    assert len(log.events) <= 2_000 * 5 / FLUSH_CHARACTERS + 2
    assert max(map(len, texts(log))) <= MAX_CHARACTERS


def test_huge_piece_is_cut_to_what_a_frame_holds() -> None:
    log = Log()
    with sender(log) as open_sender:
        open_sender.add("x" * (3 * MAX_CHARACTERS))
    assert [len(text) for text in texts(log)] == [MAX_CHARACTERS] * 3


def test_stopped_run_stops_the_reader_of_the_model() -> None:
    # AG-20
    log = Log()

    def read_model() -> None:
        with sender(log) as open_sender:
            open_sender.add("seen")
            log.grew.wait(10)
            log.over = True
            while True:
                open_sender.add("unseen")

    with pytest.raises(RunOver):
        read_model()
    assert texts(log) == ["seen"]
