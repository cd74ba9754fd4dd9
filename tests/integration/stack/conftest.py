"""What a test says to the scripted system through its socket, and what it hears."""

import uuid
from collections.abc import Iterator, Sequence

import pytest

from infra.local.client import Client, Json, Socket
from infra.local.stack import LocalStack
from tests.stack import Script, new_user

__all__ = ["Script", "ask", "assert_gapless", "run", "text_of"]


@pytest.fixture
def socket(client: Client) -> Iterator[Socket]:
    with client.socket() as socket:
        yield socket


@pytest.fixture(scope="module")
def mandate() -> str:
    """A mandate of the test module's own."""
    return f"m-{uuid.uuid4()}"


@pytest.fixture(scope="module")
def admin(stack: LocalStack, mandate: str) -> Client:
    return new_user(stack, mandate, "admin")


@pytest.fixture(scope="module")
def member(stack: LocalStack, mandate: str) -> Client:
    return new_user(stack, mandate)


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
