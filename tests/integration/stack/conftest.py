"""The whole system from the real template, with a scripted model server in place of a private LLM."""

import tempfile
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from infra.local.client import Client, Json, Socket
from infra.local.stack import LocalStack
from tests.scripted_server import Answer, Request, scripted_server


class Script:
    """What the model says in each test: a question's text names its script."""

    def __init__(self) -> None:
        self._answers: dict[str, list[Answer]] = {}
        self.requests: dict[str, list[Request]] = defaultdict(list)
        self._lock = threading.Lock()

    def add(self, *answers: Answer) -> str:
        """Return a question that gets these answers, one a request; the last is repeated."""
        question = f"Question {uuid.uuid4()}"
        self._answers[question] = list(answers)
        return question

    def answer_for(self, request: Request) -> Answer:
        """Answer a request by the question it holds."""
        messages = request["messages"]
        assert isinstance(messages, list)
        told = str([message for message in messages if message["role"] == "user"][-1])
        question = next(question for question in self._answers if question in told)
        with self._lock:
            self.requests[question].append(request)
            answers = self._answers[question]
            return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture(scope="session")
def script() -> Script:
    return Script()


@pytest.fixture(scope="session")
def stack(script: Script) -> Iterator[LocalStack]:
    with (
        scripted_server(script.answer_for) as server,
        tempfile.TemporaryDirectory(prefix="werkbank-stack-") as folder,
        LocalStack(
            state_dir=Path(folder),
            environment={"WERKBANK_PRIVATE_LLM_URL": server.url, "WERKBANK_PRIVATE_LLM_MODEL": "scripted"},
        ) as stack,
    ):
        yield stack


@pytest.fixture(scope="session")
def client(stack: LocalStack) -> Client:
    client = Client(stack.url, zone="Europe/Zurich")
    client.sign_in()
    return client


@pytest.fixture
def socket(client: Client) -> Iterator[Socket]:
    with client.socket() as socket:
        yield socket


def run(socket: Socket, question: str, **fields: object) -> str:
    """Send a question; returns its run id."""
    run_id = str(uuid.uuid4())
    socket.send(action="run", runId=run_id, prompt=question, **fields)
    return run_id


def ask(socket: Socket, question: str, **fields: object) -> list[Json]:
    """Send a question and return all its events."""
    return list(socket.events_of(run(socket, question, **fields)))


def text_of(events: Sequence[Json]) -> str:
    """Put the streamed text together as the page does: a higher attempt replaces the text of its round."""
    rounds: dict[int, tuple[int, str]] = {}
    for event in events:
        if event["type"] == "chunk":
            data = event["data"]
            attempt, text = rounds.get(data["round"], (0, ""))
            kept = text if data["attempt"] == attempt else ""
            rounds[data["round"]] = (data["attempt"], kept + data["text"])
    return "".join(text for _, (_, text) in sorted(rounds.items()))


def assert_gapless(events: Sequence[Json]) -> None:
    """EV-02"""
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
