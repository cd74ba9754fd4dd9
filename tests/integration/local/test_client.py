"""The client behind `make ask` and the tests: a run's events, and nothing that belongs to no log (EV-02, WS-05)."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from infra.local.client import Json, Socket


@contextmanager
def told(*frames: Json) -> Iterator[Socket]:
    """Yield a socket to a server that sends these frames."""

    def send(connection: ServerConnection) -> None:
        for frame in frames:
            connection.send(json.dumps(frame))
        connection.recv()  # until the client has gone

    with serve(send, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with connect(f"ws://127.0.0.1:{server.socket.getsockname()[1]}") as connection:
            yield Socket(connection)
        server.shutdown()


def event(seq: int, type: str) -> Json:
    return {"runId": "r", "seq": seq, "type": type, "at": "", "data": {}}


def test_fillers_neither_count_nor_end_a_run() -> None:
    # WS-05
    with told(event(0, "filler"), event(1, "status"), event(0, "filler"), event(2, "complete")) as socket:
        assert [each["seq"] for each in socket.events_of("r")] == [1, 2]


def test_refusal_is_the_last_that_is_heard() -> None:
    with told(event(0, "filler"), event(0, "error")) as socket:
        assert [each["type"] for each in socket.events_of("r")] == ["error"]
