"""What a person waits for: the first word of an answer, and the end of a run they stopped.

The whole twin runs, from the real template: gateway, functions in processes of their own, event log, push. The model is
a scripted server that holds its answer until it is told to go on, so that the clock starts at its first word. A relay
process between the same server and a WebSocket client is measured in turn; what Werkbank adds is the difference.
"""

import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from websockets.sync.client import ClientConnection, connect

from infra.local.client import Client, Socket
from infra.local.stack import LocalStack
from tests.bench.measuring import Figure, Spread
from tests.scripted_server import Answer, Hold, Request, ScriptedServer, scripted_server

_TIMES = 30
_WARM_UP = 4
_ROOT = Path(__file__).parents[2]
# Until whatever the last step has left to do is done: both sides start from rest.
_REST_SECONDS = 0.15
# How long a model thinks, and longer than anything on the way is remembered (database connections, open pages).
_THINKING_SECONDS = 1.2


class Model:
    """A scripted model: says a word when released, then is silent until released again."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self._holds = [threading.Event(), threading.Event()]

    def answer_for(self, request: Request) -> Answer:
        """Answer a request."""
        self._holds = [threading.Event(), threading.Event()]
        first, second = self._holds
        self.asked.release()
        return [Hold(first), "Word ", Hold(second), "end."]

    def say_the_first_word(self) -> float:
        """Let the answer begin once everybody waits for it; return the moment."""
        assert self.asked.acquire(timeout=60), "nobody asked the model"
        time.sleep(_THINKING_SECONDS)
        moment = time.perf_counter()
        self._holds[0].set()
        return moment

    def end(self) -> None:
        """Let the answer end."""
        self._holds[1].set()


def figures() -> Iterator[Figure]:
    """Measure."""
    added: list[float] = []
    words: list[float] = []
    relayed: list[float] = []
    stops: list[float] = []
    with _parts() as (model, socket, relay):
        for turn in range(_WARM_UP + _TIMES):
            word, stop = _question(model, socket)
            bare = _relayed(model, relay)
            if turn >= _WARM_UP:
                words.append(word)
                relayed.append(bare)
                added.append(word - bare)
                stops.append(stop)
    yield Figure(
        "First token beyond a bare relay",
        f"**{Spread.of(added)} ms**: {Spread.of(words)} : {Spread.of(relayed)} ms",
        "≤ 15 ms",
        f"provider's first delta to the socket client, whole twin, warm; {_TIMES} questions",
    )
    yield Figure(
        "From stop to `stopped`",
        f"**{Spread.of(stops)} ms**",
        "≤ 2 s",
        f"the model silent in mid-answer, whole twin, warm; {_TIMES} stops",
    )


def _question(model: Model, socket: Socket) -> tuple[float, float]:
    """Ask, wait for the first word, stop; return the milliseconds of both."""
    run_id = str(uuid.uuid4())
    socket.send(action="run", runId=run_id, prompt="When does the first word come?")
    said = model.say_the_first_word()
    events = socket.events_of(run_id)
    next(event for event in events if event["type"] == "chunk")
    heard = time.perf_counter()
    time.sleep(_REST_SECONDS)
    asked = time.perf_counter()
    socket.send(action="stop", runId=run_id)
    (*_, last) = events
    stopped = time.perf_counter()
    assert last["type"] == "stopped"
    model.end()
    time.sleep(_REST_SECONDS)
    return (heard - said) * 1_000, (stopped - asked) * 1_000


def _relayed(model: Model, relay: ClientConnection) -> float:
    relay.send("When does the first word come?")
    said = model.say_the_first_word()
    relay.recv(60)
    heard = time.perf_counter()
    model.end()
    relay.recv(60)
    return (heard - said) * 1_000


@contextmanager
def _parts() -> Iterator[tuple[Model, Socket, ClientConnection]]:
    with ExitStack() as stack:
        model = Model()
        server = stack.enter_context(scripted_server(model.answer_for))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="werkbank-bench-"))
        environment = {"WERKBANK_PRIVATE_LLM_URL": server.url, "WERKBANK_PRIVATE_LLM_MODEL": "scripted"}
        twin = stack.enter_context(LocalStack(state_dir=Path(folder), environment=environment))
        twin.warm_all()
        client = Client(twin.url)
        client.sign_in()
        relay = stack.enter_context(_relay(server))
        yield model, stack.enter_context(client.socket()), relay


@contextmanager
def _relay(server: ScriptedServer) -> Iterator[ClientConnection]:
    command = [sys.executable, "-m", "tests.bench.relay", server.url]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            with connect(f"ws://127.0.0.1:{process.stdout.readline().strip()}") as connection:
                yield connection
        finally:
            process.terminate()
