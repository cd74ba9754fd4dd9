"""Arguments are checked before the handler, and what is wrong with them is said in a way that helps (TB-01, AG-10)."""

from typing import Annotated

import pytest
from pydantic import Field

from werkbank.domain.errors import ToolError
from werkbank.tools.catalog import TOOLS
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import tool

CONTEXT: ToolContext = None  # type: ignore[assignment]  # these handlers do without


@tool(read_only=True)
def look_up(
    context: ToolContext,
    search_text: str,
    most_hits: Annotated[int, Field(ge=1, le=9)] = 5,
    folders: list[str] | None = None,
) -> str:
    """Look something up."""
    return f"{search_text} {most_hits} {folders}"


def refusal(arguments: str) -> str:
    with pytest.raises(ToolError) as caught:
        look_up.call(CONTEXT, arguments)
    return str(caught.value)


def test_null_for_what_may_be_left_out_is_left_out() -> None:
    assert look_up.call(CONTEXT, '{"searchText": "x", "mostHits": null, "folders": null}') == "x 5 None"
    assert look_up.call(CONTEXT, '{"searchText": "x", "mostHits": 2, "folders": ["a"]}') == "x 2 ['a']"


def test_null_for_what_is_required_or_unknown_is_refused() -> None:
    assert "searchText: Input should be a valid string" in refusal('{"searchText": null}')
    assert "other: there is no such argument" in refusal('{"searchText": "x", "other": null}')


@pytest.mark.parametrize("entry", TOOLS, ids=lambda entry: entry.name)
def test_null_means_what_the_default_means(entry: object) -> None:
    """No argument tells null from what it is when left out: otherwise null would have to reach it."""
    fields = entry.arguments.model_fields.values()  # type: ignore[attr-defined]
    for field in fields:
        takes_null = type(None) in getattr(field.annotation, "__args__", ())
        assert field.is_required() or field.default is None or not takes_null


@pytest.mark.parametrize("arguments", ["[]", '"x"', "1", "null"])
def test_arguments_that_are_no_object_are_refused(arguments: str) -> None:
    assert "Required: searchText." in refusal(arguments)


@pytest.mark.parametrize("depth", [500, 100_000])
@pytest.mark.parametrize("end", ["", "]"])
def test_arguments_nested_without_end_are_told_as_that(depth: int, end: str) -> None:
    assert "recursion limit" in refusal('{"searchText": ' + "[" * depth + end * depth + "}" * len(end))


def test_number_of_thousands_of_digits_is_not_told_as_cut_off() -> None:
    said = refusal('{"searchText": "x", "mostHits": ' + "9" * 5_000 + "}")
    assert "number out of range" in said
    assert "cut off" not in said
    assert len(said) < 500


def test_unknown_argument_names_the_nearest_and_those_there_are() -> None:
    said = refusal('{"searchText": "x", "max_hits": 3}')
    assert "max_hits: there is no such argument. Did you mean mostHits?" in said
    assert said.endswith("Required: searchText.\nOptional: mostHits, folders.")
    assert "Did you mean" not in refusal('{"searchText": "x", "zzz": 3}')


@pytest.mark.parametrize("name", ["k" * 200_000, "search" * 30_000])
def test_long_names_are_not_repeated(name: str) -> None:
    assert len(refusal(f'{{"{name}": 1}}')) < 500
