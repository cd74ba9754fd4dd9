"""Characters that cannot be stored end no run, wherever they come from (AG-10, AI-06)."""

import pytest

from tests.integration.agent.harness import Harness
from tests.scripted_model import Piece
from werkbank.database.connection import Database
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.tools.catalog import TOOLS
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import Registry, tool


@tool(read_only=True)
def read_odd(context: ToolContext, text: str) -> str:
    """Return something odd."""
    return f"{text} nul\x00, half \ud83d, whole \ud83d\ude00, escaped \\u0000"


@pytest.mark.parametrize("odd", ["\x00", "\\u0000", "\ud83d"])
def test_from_a_model_and_a_tool(database: Database, principal: Principal, odd: str) -> None:
    arguments = f'{{"text": "from a model {odd}"}}'
    answers: list[list[Piece]] = [
        [f"Let me see{odd}.", ToolCall(id="a", name="readOdd", arguments=arguments)],
        [f"Do{odd}ne."],
    ]
    harness = Harness(database, answers, Registry([*TOOLS, read_odd]))
    ref = harness.ask(principal, "What\x00 is odd?")
    events = harness.events(ref)
    assert events[-1].type == "complete"
    result = next(event for event in events if event.type == "toolResult")
    if result.data["success"]:  # a control character in JSON is a fault of the model's, and it is told so
        assert str(result.data["summary"]).endswith("nul, half \ufffd, whole 😀, escaped \\u0000")
    assert harness.pushed.events == list(events), "what is shown is what is stored"
