"""AI-06: an answer is the same however its deltas were cut."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from werkbank.ai.assembly import AnswerAssembly, assemble
from werkbank.ai.protocols import Delta, StreamEnd, TextDelta, ToolCallDelta
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.messages import ToolCall, Usage

END = StreamEnd(Usage(input_tokens=3, output_tokens=2), "stop")
STORABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
CALLS = st.lists(st.tuples(st.sampled_from(["search", "read"]), st.text(STORABLE, max_size=20)), max_size=4)


def _cut(text: str, places: list[int]) -> list[str]:
    bounds = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(bounds)]


@given(st.text(STORABLE, max_size=60), CALLS, st.lists(st.integers(0, 100)), st.randoms(use_true_random=False))
def test_any_split_and_interleaving_gives_the_same_answer(
    text: str, calls: list[tuple[str, str]], places: list[int], random: Random
) -> None:
    queues: list[list[Delta]] = [[TextDelta(piece) for piece in _cut(text, places)]]
    for index, (name, arguments) in enumerate(calls):
        head: Delta = ToolCallDelta(index, f"id{index}", name)
        queues.append([head, *(ToolCallDelta(index, arguments=piece) for piece in _cut(arguments, places))])
    answer = assemble([*_interleaved(queues, random), END])
    assert answer.message.content == text
    assert sorted(answer.message.tool_calls, key=lambda call: call.id) == [
        ToolCall(id=f"id{index}", name=name, arguments=arguments) for index, (name, arguments) in enumerate(calls)
    ]


def _interleaved(queues: list[list[Delta]], random: Random) -> Iterator[Delta]:
    while any(queues):
        yield random.choice([queue for queue in queues if queue]).pop(0)


@given(CALLS)
def test_whole_calls_without_index(calls: list[tuple[str, str]]) -> None:
    deltas = [ToolCallDelta(None, f"id{place}", name, text) for place, (name, text) in enumerate(calls)]
    found = assemble([*deltas, END]).message.tool_calls
    assert [(call.name, call.arguments) for call in found] == calls


@pytest.mark.parametrize("empty", [None, ""])
def test_later_fragments_with_empty_ids_and_names_continue_the_call(empty: str | None) -> None:
    deltas = [ToolCallDelta(None, "a", "search", '{"q":'), ToolCallDelta(None, empty, empty, "1}")]
    indexed = [ToolCallDelta(0, "a", "search", '{"q":'), ToolCallDelta(0, empty, empty, "1}")]
    expected = (ToolCall(id="a", name="search", arguments='{"q":1}'),)
    assert assemble([*deltas, END]).message.tool_calls == expected
    assert assemble([*indexed, END]).message.tool_calls == expected


def test_fragments_without_index_and_id_go_by_their_place() -> None:
    begun = [ToolCallDelta(None, call_id, "search", place=place) for place, call_id in enumerate("ab")]
    grown = [ToolCallDelta(None, None, None, str(place), place) for place in (1, 0)]
    alone = [ToolCallDelta(None, "c", "read"), ToolCallDelta(None, None, None, "2")]
    calls = assemble([*begun, *grown, *alone, END]).message.tool_calls
    assert [(call.id, call.arguments) for call in calls] == [("a", "0"), ("b", "1"), ("c", "2")]


def test_another_id_and_name_under_a_used_index_is_another_call() -> None:
    deltas = [
        ToolCallDelta(0, "a", "search", "{}"),
        ToolCallDelta(0, "b", "read", "{}"),
        ToolCallDelta(0, "c", None, "!"),
    ]
    calls = assemble([*deltas, END]).message.tool_calls
    assert [(call.id, call.arguments) for call in calls] == [("a", "{}"), ("b", "{}!")]


def test_calls_without_ids_get_distinct_stable_ones() -> None:
    deltas: list[Delta] = [ToolCallDelta(None, None, "search", "{}"), ToolCallDelta(None, None, "search", "{}"), END]
    ids = [call.id for call in assemble(deltas).message.tool_calls]
    assert len(set(ids)) == 2
    assert ids == [call.id for call in assemble(deltas).message.tool_calls]


def test_the_end_carries_usage_reason_and_what_the_provider_wants_back() -> None:
    answer = assemble([StreamEnd(END.usage, "length", {"model": "m"})])
    assert (answer.usage, answer.stop_reason, answer.message.provider_data) == (END.usage, "length", {"model": "m"})


def test_without_its_end_an_answer_is_incomplete_but_its_text_is_kept() -> None:
    assembly = AnswerAssembly()
    assert not assembly.has_begun
    assembly.add(TextDelta("half a sen"))
    assert assembly.has_begun
    with pytest.raises(IncompleteStream):
        assembly.finish()
    assert assembly.text == "half a sen"
