"""The tools on the web: what they offer, check and hand on (TB-07)."""

import json
from dataclasses import dataclass, field

import pytest

from tests.unit.websearch.runs import some_run
from werkbank.domain.errors import ToolError
from werkbank.domain.runs import Run
from werkbank.tools.web import read_url, web_search


@dataclass
class Web:
    """Remembers what it was asked."""

    asked: list[tuple[object, ...]] = field(default_factory=list)

    def search_block(self, run: Run, query: str, *, tells: bool = True) -> str:
        self.asked.append((run.id, query, tells))
        return "facts"

    def page_block(self, run: Run, url: str, part: int) -> str:
        self.asked.append((run.id, url, part))
        return "page"


@dataclass
class Context:
    """A call's surroundings, as far as these tools see them."""

    web: Web = field(default_factory=Web)
    run: Run = field(default_factory=some_run)
    approved: bool = True
    is_first_of_its_tool: bool = False


def test_offered_as_reading_tools_of_the_web() -> None:
    assert [(each.name, each.toolbox, each.read_only) for each in (web_search, read_url)] == [
        ("webSearch", "web", True), ("readUrl", "web", True),
    ]  # fmt: skip
    assert web_search.definition().parameters["required"] == ["query"]
    assert read_url.definition().parameters["required"] == ["url"]
    assert "outrank" in web_search.description  # WS-01


def test_calls_reach_the_web() -> None:
    context = Context()
    assert web_search.call(context, json.dumps({"query": "mayor of X"})) == "facts"  # type: ignore[arg-type]
    assert context.web.asked == [("run", "mayor of X", False)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (web_search, {}),
        (web_search, {"query": "x"}),
        (read_url, {"url": "x"}),
        (read_url, {"url": "https://x", "part": 0}),
    ],
)
def test_arguments_are_checked_first(tool: object, arguments: dict[str, object]) -> None:
    context = Context()
    with pytest.raises(ToolError, match="not valid"):
        tool.call(context, json.dumps(arguments))  # type: ignore[attr-defined]
    assert context.web.asked == []
