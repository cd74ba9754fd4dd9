"""What the adapters send: each provider's form, nothing a model refuses (AI-04), a cacheable prefix (AI-06)."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.bench.contents import WireFormat
from tests.bench.recordings import event_frame
from tests.bench.replay import adapter_for, model_for
from tests.bench.wire_server import WireServer
from werkbank.ai.assembly import assemble
from werkbank.ai.model import Capability, Model
from werkbank.ai.protocols import AssembledAnswer, ChatRequest
from werkbank.ai.text_protocol import TextProtocol
from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.messages import Message, ToolCall, ToolDefinition

SSE_FORMATS: tuple[WireFormat, ...] = ("anthropic", "chat", "responses")
FORMATS: tuple[WireFormat, ...] = (*SSE_FORMATS, "bedrock")
TOOL = ToolDefinition(
    name="searchFiles",
    description="Searches.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
CALL = ToolCall(id="call_1", name="searchFiles", arguments='{"query":"Raum"}')
HISTORY = (
    Message(role="system", content="You are Werkbank."),
    Message(role="user", content="Was ist ein metrischer Raum?"),
    Message(role="assistant", content="I search.", tool_calls=(CALL,)),
    Message(role="tool", tool_call_id="call_1", content="[1] a.pdf\nEin Raum.", is_error=True),
)
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


def _sse(*events: dict[str, Any]) -> list[bytes]:
    return [f"event: {event.get('type')}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def _anthropic_answer(*blocks: dict[str, Any], stop: str = "end_turn") -> list[bytes]:
    """Send blocks whole, within the start of the message, as the API does when it continues one."""
    message = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": list(blocks), "usage": USAGE}
    delta = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 1}}
    return _sse({"type": "message_start", "message": message}, delta, {"type": "message_stop"})


SHORT_ANSWERS: dict[WireFormat, list[bytes]] = {
    "anthropic": _anthropic_answer({"type": "text", "text": "Ok."}),
    "chat": _sse({"choices": [{"index": 0, "delta": {"content": "Ok."}, "finish_reason": "stop"}]}),
    "responses": _sse(
        {"type": "response.output_text.delta", "delta": "Ok.", "output_index": 0},
        {"type": "response.completed", "response": {"id": "r", "output": [], "usage": None}},
    ),
    "bedrock": [
        event_frame("event", "contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"Ok."}}'),
        event_frame("event", "messageStop", b'{"stopReason":"end_turn"}'),
    ],
}


def _ask(
    server: WireServer, format: WireFormat, request: ChatRequest, model: Model | None = None
) -> tuple[dict[str, Any], AssembledAnswer]:
    """Make the call; return the body the server got and the answer."""
    answer = assemble(adapter_for(format, server.url).stream_chat(model or model_for(format), request, 10))
    return json.loads(server.bodies[-1]), answer


def _short(server: WireServer, format: WireFormat, request: ChatRequest, model: Model | None = None) -> dict[str, Any]:
    server.reply(SHORT_ANSWERS[format])
    return _ask(server, format, request, model)[0]


def test_anthropic_form(server: WireServer) -> None:
    body = _short(server, "anthropic", ChatRequest(HISTORY, 500, (TOOL,)))
    assert body["system"] == [{"type": "text", "text": "You are Werkbank.", "cache_control": {"type": "ephemeral"}}]
    assert body["tools"][-1]["cache_control"] == {"type": "ephemeral"}
    assert body["tools"][0]["input_schema"] == TOOL.parameters
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][1]["content"][1] == {
        "type": "tool_use",
        "id": "call_1",
        "name": "searchFiles",
        "input": {"query": "Raum"},
        "cache_control": {"type": "ephemeral"},
    }
    assert body["messages"][2]["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "call_1",
        "content": "[1] a.pdf\nEin Raum.",
        "is_error": True,
    }
    assert "tool_choice" not in body


def test_chat_form(server: WireServer) -> None:
    body = _short(server, "chat", ChatRequest(HISTORY, 500, (TOOL,)))
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "searchFiles", "arguments": CALL.arguments}
    assert body["tools"][0]["function"]["parameters"] == TOOL.parameters
    assert body["stream_options"] == {"include_usage": True}


def test_responses_form(server: WireServer) -> None:
    body = _short(server, "responses", ChatRequest(HISTORY, 500, (TOOL,)))
    assert [item.get("type", item.get("role")) for item in body["input"]] == [
        "developer",
        "user",
        "assistant",
        "function_call",
        "function_call_output",
    ]
    assert body["store"] is False
    assert body["max_output_tokens"] == 500


@pytest.mark.parametrize("format", FORMATS)
def test_a_reasoning_model_gets_no_temperature_and_its_own_limit(format: WireFormat, server: WireServer) -> None:
    capabilities = frozenset({Capability.TOOLS, Capability.REASONING})
    model = Model.model_validate({**model_for(format).model_dump(), "capabilities": capabilities})
    body = _short(server, format, ChatRequest(HISTORY, 500, temperature=0.2), model)
    if format == "bedrock":
        assert body["inferenceConfig"] == {"maxTokens": 500}
        return
    assert "temperature" not in body
    limits = {"anthropic": {"max_tokens"}, "chat": {"max_completion_tokens"}, "responses": {"max_output_tokens"}}
    assert {name for name in body if name.startswith("max_")} == limits[format]


@pytest.mark.parametrize("format", ["chat", "responses"])
def test_a_model_that_takes_a_temperature_gets_it(format: WireFormat, server: WireServer) -> None:
    capabilities = frozenset({Capability.TEMPERATURE})
    model = Model.model_validate({**model_for(format).model_dump(), "capabilities": capabilities})
    assert _short(server, format, ChatRequest(HISTORY, 500, temperature=0.2), model)["temperature"] == 0.2


@pytest.mark.parametrize("format", SSE_FORMATS)
def test_the_last_call_keeps_the_tools_in_the_prompt_but_forbids_them(format: WireFormat, server: WireServer) -> None:
    body = _short(server, format, ChatRequest(HISTORY, 500, (TOOL,), may_call_tools=False))
    assert len(body["tools"]) == 1
    assert body["tool_choice"] == ({"type": "none"} if format == "anthropic" else "none")


@pytest.mark.parametrize("format", FORMATS)
def test_the_text_protocol_sends_no_tools_and_no_tool_messages(format: WireFormat, server: WireServer) -> None:
    # AI-07, AG-02
    server.reply(SHORT_ANSWERS[format])
    provider = TextProtocol(adapter_for(format, server.url))
    answer = assemble(provider.stream_chat(model_for(format), ChatRequest(HISTORY, 500, (TOOL,)), 10))
    assert answer.message.content == "Ok."
    body = json.loads(server.bodies[-1])
    assert {"tools", "tool_choice", "toolConfig"}.isdisjoint(body)
    sent = json.dumps(body)
    assert "werkbank_result" in sent
    for word in ("tool_use", "toolUse", "tool_result", "toolResult", '"tool"', "tool_calls", "function_call"):
        assert word not in sent


@pytest.mark.parametrize("arguments", ["", "{", "[1]", '{"a": NaN}', "null"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_history_with_broken_arguments_can_be_sent(format: WireFormat, arguments: str, server: WireServer) -> None:
    broken = Message(role="assistant", tool_calls=(ToolCall(id="call_1", name="searchFiles", arguments=arguments),))
    body = _short(server, format, ChatRequest((*HISTORY[:2], broken, HISTORY[3]), 500, (TOOL,)))
    if format == "anthropic":
        wanted = {} if not arguments else {"invalidJson": arguments}
        assert body["messages"][1]["content"][0]["input"] == wanted


ID_PATTERNS = {
    "anthropic": "[A-Za-z0-9_-]+",
    "bedrock": "[A-Za-z0-9_.:-]{1,64}",
    "responses": "(?s:.{1,64})",
    "chat": "(?s:.+)",
}


@pytest.mark.parametrize("call_id", ["functions.searchFiles:0", "x" * 80, "a b\n€", "call_1"])
@pytest.mark.parametrize("format", FORMATS)
def test_foreign_ids_and_invented_names_can_be_sent(format: WireFormat, call_id: str, server: WireServer) -> None:
    foreign = Message(role="assistant", tool_calls=(ToolCall(id=call_id, name="$no such tool", arguments="{}"),))
    result = Message(role="tool", tool_call_id=call_id, content="There is no such tool.")
    body = _short(server, format, ChatRequest((*HISTORY[:2], foreign, result), 500, (TOOL,)))
    name, sent_id, answered_id = _sent_call(format, body)
    assert name == "_no_such_tool"
    assert sent_id == answered_id
    assert re.fullmatch(ID_PATTERNS[format], sent_id)
    assert call_id != "call_1" or sent_id == "call_1"


def _sent_call(format: WireFormat, body: dict[str, Any]) -> tuple[str, str, str]:
    """Return the call's name, its id, and the id its result names."""
    if format == "responses":
        call, result = body["input"][-2:]
        return call["name"], call["call_id"], result["call_id"]
    call, result = body["messages"][-2:]
    if format == "chat":
        return call["tool_calls"][0]["function"]["name"], call["tool_calls"][0]["id"], result["tool_call_id"]
    if format == "anthropic":
        return call["content"][0]["name"], call["content"][0]["id"], result["content"][0]["tool_use_id"]
    use, answer = call["content"][0]["toolUse"], result["content"][0]["toolResult"]
    return use["name"], use["toolUseId"], answer["toolUseId"]


def test_thinking_comes_back_untouched_to_its_model_only(server: WireServer) -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    use = {"type": "tool_use", "id": "call_1", "name": "searchFiles", "input": {"query": "Raum"}}
    server.reply(_anthropic_answer(thinking, use, stop="tool_use"))
    _, answer = _ask(server, "anthropic", ChatRequest(HISTORY[:2], 500, (TOOL,)))
    request = ChatRequest((*HISTORY[:2], answer.message, HISTORY[3]), 500, (TOOL,))
    sent = _short(server, "anthropic", request)["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["thinking", "tool_use"]
    assert sent[0] == thinking
    other = Model.model_validate({**model_for("anthropic").model_dump(), "id": "another"})
    blocks = _short(server, "anthropic", request, other)["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["tool_use"]


def test_encrypted_reasoning_comes_back_to_openai(server: WireServer) -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}
    call = {"type": "function_call", "id": "fc", "call_id": "call_1", "name": "searchFiles", "arguments": "{}"}
    server.reply(
        _sse(
            {"type": "response.output_item.done", "output_index": 1, "item": call},
            {"type": "response.completed", "response": {"id": "r", "output": [reasoning, call], "usage": None}},
        )
    )
    _, answer = _ask(server, "responses", ChatRequest(HISTORY[:2], 500, (TOOL,)))
    assert (answer.stop_reason, answer.message.tool_calls[0].id) == ("tool_calls", "call_1")
    body = _short(server, "responses", ChatRequest((*HISTORY[:2], answer.message, HISTORY[3]), 500, (TOOL,)))
    assert body["input"][2:4] == [reasoning, call]


@pytest.mark.parametrize("format", FORMATS)
def test_the_prompt_of_a_round_begins_with_that_of_the_round_before(format: WireFormat, server: WireServer) -> None:
    messages = list(HISTORY[:2])
    known: list[Any] = []
    for round_number in range(15):
        body = _short(server, format, ChatRequest(tuple(messages), 500, (TOOL,)))
        prompt = _without_cache_marks(body["input"] if format == "responses" else body["messages"])
        assert prompt[: len(known)] == known
        known = prompt
        call = ToolCall(id=f"call_{round_number}", name="searchFiles", arguments='{"query":"x"}')
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", tool_call_id=call.id, content=f"Result {round_number}"))


def _without_cache_marks(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_cache_marks(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _without_cache_marks(entry) for key, entry in value.items() if key != "cache_control"}
    return value


def test_openai_is_told_which_requests_begin_alike(server: WireServer) -> None:
    model = model_for("responses").model_copy(update={"capabilities": frozenset({Capability.CACHING})})
    body = _short(server, "responses", ChatRequest(HISTORY, 500, conversation="0b6f"), model)
    assert body["prompt_cache_key"] == "0b6f"
    assert "prompt_cache_key" not in _short(server, "responses", ChatRequest(HISTORY, 500), model)


@pytest.mark.parametrize("format", FORMATS)
def test_closing_the_stream_hangs_up(format: WireFormat, server: WireServer) -> None:  # AG-20
    server.client_left.clear()
    server.reply(_endless(format))
    deltas = adapter_for(format, server.url).stream_chat(model_for(format), ChatRequest(HISTORY[:2], 500), 30)
    next(deltas)
    deltas.close()
    assert server.client_left.wait(5)


def _endless(format: WireFormat) -> Iterator[bytes]:
    head = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}}
    pieces = {
        "anthropic": _sse({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}),
        "chat": _sse({"choices": [{"index": 0, "delta": {"content": "a"}}]}),
        "responses": _sse({"type": "response.output_text.delta", "delta": "a", "output_index": 0}),
        "bedrock": [event_frame("event", "contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"a"}}')],
    }
    if format == "anthropic":
        yield from _sse(head)
    for _ in range(500):
        yield pieces[format][0]
        time.sleep(0.01)


@pytest.mark.parametrize("format", FORMATS)
def test_an_answer_that_goes_on_too_long_is_given_up(format: WireFormat, server: WireServer) -> None:
    server.reply(_endless(format))
    with pytest.raises(ProviderUnavailable):
        list(adapter_for(format, server.url).stream_chat(model_for(format), ChatRequest(HISTORY[:2], 500), 0.3))


# A frame that never ends is what a stream of Bedrock can keep alive with.
@pytest.mark.parametrize(
    ("format", "alive"),
    [("anthropic", b"event: ping\ndata: {}\n\n"), ("chat", b": alive\n\n"), ("bedrock", b"\0")],
)
def test_keep_alives_do_not_keep_a_call_alive(format: WireFormat, alive: bytes, server: WireServer) -> None:
    def nothing_else() -> Iterator[bytes]:
        yield event_frame("event", "contentBlockDelta", b" " * 5_000)[:100] if format == "bedrock" else b""
        for _ in range(1_000):
            yield alive
            time.sleep(0.01)

    server.client_left.clear()
    server.reply(nothing_else())
    with pytest.raises(ProviderUnavailable):
        list(adapter_for(format, server.url).stream_chat(model_for(format), ChatRequest(HISTORY[:2], 500), 0.3))
    assert server.client_left.wait(5), "the call waited for the end of the keep-alives"
