"""What providers stream beside the usual is understood, and costs what it cost (AI-01, AI-06)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench.contents import WireFormat
from tests.bench.recordings import Recording, read_recording
from tests.bench.replay import adapter_for, ask, first_difference, model_for, replay_or_tell
from tests.bench.wire_server import WireServer
from werkbank.ai.protocols import AssembledAnswer, ChatRequest
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.messages import Message

_Event = dict[str, Any]
START: _Event = {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 10, "output_tokens": 1}}}
END: tuple[_Event, ...] = (
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
)
RESPONSE: _Event = {"id": "r", "output": [], "usage": {"input_tokens": 5, "output_tokens": 2}}
CALL: _Event = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"a":1}'}
REFUSAL: _Event = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}


def _ask(server: WireServer, format: WireFormat, *events: _Event) -> AssembledAnswer:
    """Stream the events; the bench's own reading of them must agree with what comes out."""
    recording = _recording(format, *events)
    server.reply(recording.wire(), content_type=recording.content_type)
    answer = ask(format, server.url)
    assert first_difference(recording.content(), answer) is None
    return answer


def _recording(format: WireFormat, *events: _Event) -> Recording:
    return Recording(Path("own.chunks.txt"), tuple(json.dumps(event) for event in events), format)


def _calls(answer: AssembledAnswer) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in answer.message.tool_calls]


# Anthropic


def _text(text: str, index: int = 0) -> tuple[_Event, ...]:
    return (
        {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": index},
    )


def test_a_repeated_start_of_a_message_says_nothing_new(server: WireServer) -> None:
    again = {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 99, "output_tokens": 1}}}
    answer = _ask(server, "anthropic", START, again, *_text("Ok."), *END)
    assert (answer.message.content, answer.usage.input_tokens, answer.usage.output_tokens) == ("Ok.", 10, 2)


def test_messages_after_one_another_add_up(server: WireServer) -> None:
    second = {"type": "message_start", "message": {"id": "m2", "usage": {"input_tokens": 11, "output_tokens": 1}}}
    answer = _ask(server, "anthropic", START, *_text("A"), *END, second, *_text("B"), *END)
    assert (answer.message.content, answer.usage.input_tokens, answer.usage.output_tokens) == ("AB", 21, 4)


def test_a_message_that_another_cuts_off_is_a_failed_call(server: WireServer) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "find", "input": {}}
    part = {"type": "input_json_delta", "partial_json": '{"q":"hal'}
    cut = (
        START,
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": part},
        {"type": "message_start", "message": {"id": "m2", "usage": {"input_tokens": 11, "output_tokens": 1}}},
        *_text("Ok."),
        *END,
    )
    with pytest.raises(IncompleteStream):
        _ask(server, "anthropic", *cut)
    assert _recording("anthropic", *cut).content().fault == "IncompleteStream"


# Chat Completions


def _chunk(delta: _Event, finish: str | None = None, **more: Any) -> _Event:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def _piece(name: str | None, arguments: object, **more: Any) -> _Event:
    return {**more, "function": {"arguments": arguments, **({"name": name} if name else {})}}


def test_calls_without_index_are_told_apart_by_their_place(server: WireServer) -> None:
    begun = {"tool_calls": [_piece("find", "", id="a"), _piece("read", "", id="b")]}
    grown = {"tool_calls": [_piece(None, '{"q":1}'), _piece(None, '{"u":2}')]}
    answer = _ask(server, "chat", _chunk(begun), _chunk(grown), _chunk({}, "tool_calls"))
    assert _calls(answer) == [("find", '{"q":1}'), ("read", '{"u":2}')]


def test_calls_that_get_their_index_later(server: WireServer) -> None:
    begun = {"tool_calls": [_piece("find", '{"q":', id="a"), _piece("read", '{"u":', id="b")]}
    grown = {"tool_calls": [_piece(None, "2}", index=1), _piece(None, "1}", index=0)]}
    answer = _ask(server, "chat", _chunk(begun), _chunk(grown), _chunk({}, "tool_calls"))
    assert _calls(answer) == [("find", '{"q":1}'), ("read", '{"u":2}')]


def test_a_call_in_the_form_before_there_were_tools(server: WireServer) -> None:
    begun = {"function_call": {"name": "find", "arguments": ""}}
    grown = [{"function_call": {"arguments": piece}} for piece in ('{"q":', "1}")]
    answer = _ask(server, "chat", _chunk(begun), *map(_chunk, grown), _chunk({}, "function_call"))
    assert _calls(answer) == [("find", '{"q":1}')]
    assert answer.stop_reason == "tool_calls"
    assert answer.message.tool_calls[0].id


def test_arguments_as_an_object(server: WireServer) -> None:
    delta = {"tool_calls": [_piece("find", {"q": 1}, index=0, id="a")]}
    assert _calls(_ask(server, "chat", _chunk(delta), _chunk({}, "tool_calls"))) == [("find", '{"q": 1}')]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_aloud_comes_back_under_its_own_name(name: str, server: WireServer) -> None:
    told = _ask(server, "chat", _chunk({name: "Well, "}), _chunk({name: "then."}), _chunk({"content": "Ok."}, "stop"))
    request = ChatRequest((Message(role="user", content="?"), told.message), 10)
    list(adapter_for("chat", server.url).stream_chat(model_for("chat"), request, 10))
    sent = json.loads(server.bodies[-1])["messages"][1]
    assert sent == {"role": "assistant", "content": "Ok.", name: "Well, then."}
    assert told.usage.output_tokens > len("Ok.")


USAGE = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}


@pytest.mark.parametrize(
    "end",
    [
        _chunk({}, "stop", usage=USAGE),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]},
        _chunk({}, "stop", x_groq={"id": "req", "usage": USAGE}),
    ],
)
def test_usage_wherever_it_stands(end: _Event, server: WireServer) -> None:
    usage = _ask(server, "chat", _chunk({"content": "Ok."}), end).usage
    assert (usage.input_tokens, usage.output_tokens) == (12, 5)


@pytest.mark.parametrize("name", ["cached_tokens", "prompt_cache_hit_tokens", "num_cached_tokens"])
def test_cached_tokens_under_every_name(name: str, server: WireServer) -> None:
    usage = _ask(server, "chat", _chunk({"content": "Ok."}, "stop", usage={**USAGE, name: 8})).usage
    assert (usage.input_tokens, usage.cached_input_tokens) == (12, 8)


# Responses


def _event(kind: str, **more: Any) -> _Event:
    return {"type": f"response.{kind}", **more}


def _done(index: int, item: _Event) -> _Event:
    return _event("output_item.done", output_index=index, item=item)


def test_an_announced_call_that_ends_as_something_else_is_the_servers_own(server: WireServer) -> None:
    found = {"type": "search_results", "results": []}
    message = {"type": "message", "content": [{"type": "output_text", "text": "Found."}]}
    answer = _ask(
        server,
        "responses",
        _event("output_item.added", output_index=0, item=CALL),
        _done(0, found),
        _event("output_text.delta", output_index=1, delta="Found."),
        _done(1, message),
        _event("completed", response={**RESPONSE, "output": [found, message]}),
    )
    assert (answer.message.content, answer.message.tool_calls, answer.stop_reason) == ("Found.", (), "stop")


@pytest.mark.parametrize("streamed", ["nothing", "the item", "its arguments"])
def test_a_call_however_much_of_it_is_streamed(streamed: str, server: WireServer) -> None:
    added = _event("output_item.added", output_index=0, item={**CALL, "arguments": ""})
    delta = _event("function_call_arguments.delta", output_index=0, delta=CALL["arguments"])
    events = {"nothing": [], "the item": [added, _done(0, CALL)], "its arguments": [added, delta, _done(0, CALL)]}
    end = _event("completed", response={**RESPONSE, "output": [CALL]})
    answer = _ask(server, "responses", *events[streamed], end)
    assert [(call.id, call.name, call.arguments) for call in answer.message.tool_calls] == [("c1", "find", '{"a":1}')]
    assert answer.stop_reason == "tool_calls"


def test_a_refusal_that_comes_whole(server: WireServer) -> None:
    end = _event("completed", response={**RESPONSE, "output": [REFUSAL]})
    answer = _ask(server, "responses", _done(0, REFUSAL), end)
    assert (answer.message.content, answer.stop_reason) == ("No.", "refusal")


def test_items_and_parts_nobody_knows_are_passed_over(server: WireServer) -> None:
    parts = [{"type": "brand_new"}, {"type": "output_text", "text": "Ok."}]
    end = _event("completed", response={"usage": RESPONSE["usage"]})
    events = (_done(0, {"type": "brand_new"}), _done(1, {"type": "message"}))
    answer = _ask(server, "responses", *events, _done(2, {"type": "message", "content": parts}), end)
    assert answer.message.content == "Ok."


@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "refusal"), ("server_timeout", "other")]
)
def test_why_a_response_is_incomplete(reason: str, stop: str, server: WireServer) -> None:
    response = {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": reason}}
    assert _ask(server, "responses", _event("incomplete", response=response)).stop_reason == stop


# All of them

UNTOLD: dict[WireFormat, tuple[_Event, ...]] = {
    "anthropic": (
        {"type": "message_start", "message": {"id": "m1"}},
        *_text("Hello."),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ),
    "chat": (_chunk({"content": "Hello."}, "stop"),),
    "responses": (
        _event("output_text.delta", output_index=0, delta="Hello."),
        _event("completed", response={"output": [], "usage": None}),
    ),
    "bedrock": (
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hello."}}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"metrics": {"latencyMs": 1}}},
    ),
}


@pytest.mark.parametrize("format", UNTOLD)
def test_an_answer_that_tells_no_usage_is_counted_not_free(format: WireFormat, server: WireServer) -> None:
    answer = _ask(server, format, *UNTOLD[format])
    assert answer.message.content == "Hello."
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens >= 3


def test_a_recording_that_nobody_understands_is_a_failure_of_its_own(server: WireServer) -> None:
    is_ok, reason = replay_or_tell(_recording("responses", {"type": "response.completed"}), server)
    assert not is_ok
    assert reason


def test_only_line_feeds_part_the_events_of_a_recording(tmp_path: Path, server: WireServer) -> None:
    path = tmp_path / "own.chunks.txt"
    events = (START, *_text("a\u2028b\x85c"), *END)
    path.write_text("\n".join(json.dumps(event, ensure_ascii=False) for event in events) + "\n", encoding="utf-8")
    recording = read_recording(path)
    assert recording.content().text == "a\u2028b\x85c"
    assert replay_or_tell(recording, server) == (True, "")


def test_a_recorded_event_that_is_no_json_is_a_failed_call(server: WireServer) -> None:
    lines = [json.dumps(event) for event in (START, *_text("Ok."), *END)]
    damaged = Recording(Path("own.chunks.txt"), (*lines[:2], lines[2][:-20], *lines[3:]), "anthropic")
    is_ok, reason = replay_or_tell(damaged, server)
    assert is_ok
    assert reason.endswith("raised as IncompleteStream")
