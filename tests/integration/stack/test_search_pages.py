"""Web search on the laptop without a key for it: found and cited out of a file of pages (WS-01, WS-03, WS-06)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.local import model_keys
from infra.local.client import Client, Json
from infra.local.stack import LocalStack
from tests.integration.stack.conftest import ask
from tests.stack import Script, scripted_stack
from werkbank.domain.messages import ToolCall

PAGES = {"WERKBANK_SEARCH_PAGES": str(Path(model_keys.__file__).with_name("search_pages.json"))}
SEARCH = ToolCall(id="s", name="webSearch", arguments='{"query": "electricity prices"}')


@pytest.fixture(scope="module")
def searching_script() -> Script:
    return Script()


@pytest.fixture(scope="module")
def searching_stack(searching_script: Script) -> Iterator[LocalStack]:
    with scripted_stack(searching_script, PAGES) as stack:
        yield stack


def cited(stack: LocalStack, question: str) -> list[str]:
    """Ask a question and return the addresses that its answer cites."""
    client = Client(stack.url)
    client.sign_in()
    with client.socket() as socket:
        events: list[Json] = ask(socket, question)
    return [each["url"] for event in events if event["type"] == "citations" for each in event["data"]["citations"]]


def test_sensitive_question_is_searched_by_force(searching_stack: LocalStack, searching_script: Script) -> None:
    question = searching_script.add(["Ada Muster [1]."], about="Who is the mayor of Oberdorf?")
    assert cited(searching_stack, question) == ["https://example.org/council/members"]
    assert "Mayor of Oberdorf since 2025 is Ada Muster" in str(searching_script.requests[question][0]["messages"])


def test_model_searches(searching_stack: LocalStack, searching_script: Script) -> None:
    question = searching_script.add([SEARCH], ["27.4 Rappen [1]."], about="What does electricity cost?")
    assert cited(searching_stack, question) == ["https://example.com/prices/electricity"]
