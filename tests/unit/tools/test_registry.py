"""The registry: schemas from signatures, flags, batches (TB-01, TB-02, AG-05)."""

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from werkbank.domain.errors import ToolError
from werkbank.domain.messages import ToolCall
from werkbank.domain.runs import TOOLBOXES
from werkbank.tools import catalog
from werkbank.tools.catalog import TOOLS
from werkbank.tools.context import ToolContext
from werkbank.tools.effects import Effect
from werkbank.tools.registry import Registry, Tool, tool
from werkbank.tools.toolboxes import request_toolbox


@tool(read_only=True)
def look_up(
    context: ToolContext,
    search_text: Annotated[str, Field(min_length=1, description="What to find.")],
    order: Literal["up", "down"] = "up",
) -> str:
    """Look something up."""
    return f"{search_text} {order}"


@tool()
def change(context: ToolContext) -> str:
    """Change something."""
    return "changed"


REGISTRY = Registry([look_up, change])


def test_schema_comes_from_the_signature() -> None:
    definition = look_up.definition()
    assert (definition.name, definition.description) == ("lookUp", "Look something up.")
    assert definition.parameters == {
        "additionalProperties": False,
        "properties": {
            "searchText": {"description": "What to find.", "minLength": 1, "type": "string"},
            "order": {"default": "up", "enum": ["up", "down"], "type": "string"},
        },
        "required": ["searchText"],
        "type": "object",
    }


def test_core_tools_are_offered_in_a_fixed_order_with_descriptions() -> None:
    names = [definition.name for definition in catalog.registry(can_search_web=True).active(()).definitions()]
    assert names == sorted(names)
    assert {"listFiles", "readFile", "searchInFileContent", "searchFiles", "writeFile"} <= set(names)
    assert {"browseContainer", "readContentObjects"} <= set(names)
    assert all(entry.description and not entry.name.startswith("_") for entry in TOOLS)


def test_every_tool_says_what_it_can_do_beyond_reading() -> None:
    # AG-16: whoever adds a tool has to think about it
    effects = {entry.name: entry.effects for entry in TOOLS if entry.effects}
    assert effects == {
        "writeFile": {Effect.DELETE},
        "request_more_iterations": {Effect.SPEND},
        "webSearch": {Effect.SEND, Effect.SPEND},
        "readUrl": {Effect.SEND},
    }
    assert all(entry.read_only or entry.effects or entry.needs_confirmation for entry in TOOLS)


@pytest.mark.parametrize("name", ["_session_id", "_untrusted_source", "sessionId", "untrustedSource", "context", "run"])
@pytest.mark.parametrize("entry", [*TOOLS, request_toolbox(["jira"])], ids=lambda entry: entry.name)
def test_surroundings_of_a_call_are_no_arguments(entry: Tool, name: str) -> None:
    # AG-16: the session and its trust are ours to say
    context: ToolContext = None  # type: ignore[assignment]  # never reached
    with pytest.raises(ToolError, match=f"{name}: there is no such argument"):
        entry.call(context, f'{{"{name}": false}}')


def test_unknown_name_suggests_the_nearest() -> None:
    # AG-10
    with pytest.raises(ToolError, match="lookUp"):
        REGISTRY.get("look_up")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("web_search", "webSearch"), ("search_web", "webSearch"), ("WebSearch", "webSearch"), ("open_url", "readUrl"),
        ("read_url", "readUrl"), ("searchfile", "searchFiles"), ("list_directory", "listFiles"),
        ("write_to_file", "writeFile"), ("more_iterations", "request_more_iterations"), ("READFILE", "readFile"),
    ],
)  # fmt: skip
def test_names_are_compared_by_their_words(name: str, meant: str) -> None:
    # AG-10
    with pytest.raises(ToolError, match=rf"Did you mean {meant}\b"):
        catalog.registry(can_search_web=True).active(()).get(name)


@pytest.mark.parametrize("name", ["google", "python", "cat", "ls", "grep", "", "a" * 200_000])
def test_where_nothing_is_near_the_offered_tools_are_named(name: str) -> None:
    # AG-10
    with pytest.raises(ToolError) as caught:
        catalog.registry(can_search_web=False).active(()).get(name)
    assert "Did you mean" not in str(caught.value)
    assert "listFiles, readContentObjects, readFile, requestToolbox" in str(caught.value)
    assert "readUrl" not in str(caught.value)
    assert len(str(caught.value)) < 400
    many = [replace(look_up, name=f"tool{number}") for number in range(100)]
    with pytest.raises(ToolError, match=r"Use one of the offered tools\.$"):
        Registry(many).get(name)


@pytest.mark.parametrize("name", ["readUrl", "read_url"])
def test_tool_of_a_toolbox_that_is_not_open_says_how_to_get_it(name: str) -> None:
    # TB-03
    registry = catalog.registry(can_search_web=False)
    with pytest.raises(ToolError, match=r"readUrl belongs to the toolbox web, .* requestToolbox"):
        registry.active(()).get(name)
    assert registry.active(["web"]).get("readUrl")
    with pytest.raises(ToolError, match="switched off in the settings"):
        registry.active((), closed=frozenset({"web"})).get("readUrl")
    with pytest.raises(ToolError) as caught:
        Registry(TOOLS).active(()).get(name)
    assert "requestToolbox" not in str(caught.value), "nobody to ask"


def test_asking_where_every_toolbox_is_open() -> None:
    # TB-03
    with pytest.raises(ToolError, match=r"^There is no other toolbox to ask for\."):
        catalog.registry(can_search_web=True).active(()).get("requestToolbox")


@given(st.lists(st.sampled_from(["lookUp", "change", "unknown"]), max_size=12))
def test_batches_keep_the_order_and_never_mix(names: list[str]) -> None:
    # AG-05: a read after a write sees the write
    calls = [ToolCall(id=str(position), name=name, arguments="{}") for position, name in enumerate(names)]
    batches = REGISTRY.batches(calls)
    assert [call_id for batch in batches for call_id in batch] == [call.id for call in calls]
    by_id = {call.id: call.name for call in calls}
    alone = REGISTRY.batches(calls, {call.id for call in calls})
    assert alone == tuple((call.id,) for call in calls), "a call that waits holds up nobody beside it"
    assert all(len(batch) == 1 for batch in batches if "change" in [by_id[call_id] for call_id in batch])
    for before, after in pairwise(batches):
        assert "change" in [by_id[call_id] for call_id in (*before, *after)], "neighbouring reads run together"


@given(st.text(max_size=50))
def test_any_arguments_are_checked_before_the_handler(arguments: str) -> None:
    # TB-01: hostile text gives a ToolError or a valid call, nothing else
    context: ToolContext = None  # type: ignore[assignment]  # never reached with invalid arguments
    answer = ""
    with suppress(ToolError):
        answer = look_up.call(context, arguments)
    assert not answer or answer.endswith((" up", " down"))


@pytest.mark.parametrize("arguments", ['{"searchText": "the whole of', '{"searchText": "x", "order"', "{"])
def test_arguments_that_broke_off_are_told_with_their_end(arguments: str) -> None:
    # AG-10: cut by an output limit or a broken stream
    context: ToolContext = None  # type: ignore[assignment]  # never reached
    with pytest.raises(ToolError, match="cut off") as caught:
        look_up.call(context, arguments)
    assert arguments[-10:] in str(caught.value)


def test_no_arguments_at_all_name_what_is_required() -> None:
    context: ToolContext = None  # type: ignore[assignment]  # never reached
    with pytest.raises(ToolError, match="searchText"):
        look_up.call(context, "")


def test_toolboxes_that_a_question_may_open_are_those_of_the_tools() -> None:
    # AG-03: the socket's function knows them without loading the tools
    assert {tool.toolbox for tool in TOOLS} == TOOLBOXES
