"""What reaches Bedrock through the real boto3: Converse's form, its limits, its signature (AI-01, AI-04, AI-06)."""

import json
from typing import Any

import pytest

from tests.bench.recordings import event_frame
from tests.bench.replay import adapter_for, model_for
from tests.bench.wire_server import WireServer
from werkbank.ai.assembly import assemble
from werkbank.ai.model import Capability, Model
from werkbank.ai.protocols import AssembledAnswer, ChatRequest
from werkbank.domain.messages import Message, ToolCall, ToolDefinition
from werkbank.providers.bedrock import BedrockChat
from werkbank.providers.bedrock_connection import BedrockConnection

TOOL = ToolDefinition(name="searchFiles", description="Searches.", parameters={"type": "object", "properties": {}})
CALLS = tuple(ToolCall(id=f"call_{number}", name="searchFiles", arguments='{"query":"Raum"}') for number in (1, 2))
HISTORY = (
    Message(role="system", content="You are Werkbank."),
    Message(role="user", content="Was ist ein metrischer Raum?"),
    Message(role="assistant", content="I search.", tool_calls=CALLS),
    Message(role="tool", tool_call_id="call_1", content="Ein Raum.", is_error=True),
    Message(role="tool", tool_call_id="call_2"),
    Message(role="system", content="It is Monday."),
    Message(role="user", content="Go on."),
)
CACHING = frozenset({Capability.TOOLS, Capability.CACHING, Capability.TEMPERATURE})
CACHE_POINT = {"cachePoint": {"type": "default"}}


def _frame(name: str, **payload: Any) -> bytes:
    return event_frame("event", name, json.dumps(payload).encode())


STOP = _frame("messageStop", stopReason="end_turn")


def _ask(
    server: WireServer, request: ChatRequest, *events: bytes, model: Model | None = None
) -> tuple[Any, AssembledAnswer]:
    """Make the call; return the body the server got and the answer."""
    server.reply([*events, STOP], content_type="application/vnd.amazon.eventstream")
    adapter = adapter_for("bedrock", server.url)
    answer = assemble(adapter.stream_chat(model or model_for("bedrock"), request, 10))
    return json.loads(server.bodies[-1]), answer


def _model(capabilities: frozenset[Capability]) -> Model:
    return Model.model_validate({**model_for("bedrock").model_dump(), "capabilities": capabilities})


def test_form(server: WireServer) -> None:
    body, _ = _ask(server, ChatRequest(HISTORY, 500, (TOOL,), temperature=1.7), model=_model(CACHING))
    assert body["system"] == [{"text": "You are Werkbank."}, CACHE_POINT]
    assert body["inferenceConfig"] == {"maxTokens": 500, "temperature": 1.0}
    assert body["toolConfig"]["tools"] == [
        {"toolSpec": {"name": "searchFiles", "description": "Searches.", "inputSchema": {"json": TOOL.parameters}}}
    ]
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    uses = [block["toolUse"] for block in body["messages"][1]["content"][1:]]
    assert uses == [{"toolUseId": call.id, "name": "searchFiles", "input": {"query": "Raum"}} for call in CALLS]
    # All results of an assistant's calls stand in the one message that follows it.
    assert body["messages"][2]["content"] == [
        {"toolResult": {"toolUseId": "call_1", "content": [{"text": "Ein Raum."}], "status": "error"}},
        {"toolResult": {"toolUseId": "call_2", "content": [{"text": "(empty)"}], "status": "success"}},
        {"text": "<system>\nIt is Monday.\n</system>"},
        CACHE_POINT,
        {"text": "Go on."},
    ]


def test_where_no_tool_may_be_called_none_is_offered_and_the_calls_are_told(server: WireServer) -> None:
    body, _ = _ask(server, ChatRequest(HISTORY, 500, (TOOL,), may_call_tools=False))
    assert "toolConfig" not in body
    blocks = [block for message in body["messages"] for block in message["content"]]
    assert all(block.keys() == {"text"} for block in blocks)
    told = "\n".join(block["text"] for block in blocks)
    assert '(Tool call call_1: searchFiles {"query":"Raum"})' in told
    assert "Result of the tool call call_1:\nEin Raum." in told


def test_reasoning_comes_back_untouched_to_its_model_only(server: WireServer) -> None:
    events = [
        _frame("contentBlockDelta", contentBlockIndex=0, delta={"reasoningContent": {"text": "Hm"}}),
        _frame("contentBlockDelta", contentBlockIndex=0, delta={"reasoningContent": {"text": "."}}),
        _frame("contentBlockDelta", contentBlockIndex=0, delta={"reasoningContent": {"signature": "c2ln"}}),
        _frame("contentBlockDelta", contentBlockIndex=1, delta={"reasoningContent": {"redactedContent": "AAH/"}}),
        _frame("contentBlockDelta", contentBlockIndex=2, delta={"text": "I search."}),
        _frame("contentBlockStart", contentBlockIndex=3, start={"toolUse": {"toolUseId": "t1", "name": "searchFiles"}}),
        _frame("contentBlockDelta", contentBlockIndex=3, delta={"toolUse": {"input": '{"a":1}'}}),
    ]
    _, answer = _ask(server, ChatRequest(HISTORY[:2], 500, (TOOL,)), *events)
    assert answer.message.content == "I search."
    result = Message(role="tool", tool_call_id="t1", content="Found.")
    request = ChatRequest((*HISTORY[:2], answer.message, result), 500, (TOOL,))
    sent = _ask(server, request)[0]["messages"][1]["content"]
    assert sent == [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "AAH/"}},
        {"text": "I search."},
        {"toolUse": {"toolUseId": "t1", "name": "searchFiles", "input": {"a": 1}}},
    ]
    other = Model.model_validate({**model_for("bedrock").model_dump(), "id": "another"})
    assert [*_ask(server, request, model=other)[0]["messages"][1]["content"][0]] == ["text"]


def test_usage_counts_what_the_cache_gave_and_took(server: WireServer) -> None:
    usage = {
        "inputTokens": 10,
        "outputTokens": 5,
        "totalTokens": 1_115,
        "cacheReadInputTokens": 1_000,
        "cacheWriteInputTokens": 100,
    }
    _, answer = _ask(server, ChatRequest(HISTORY[:2], 500), _frame("metadata", usage=usage, metrics={"latencyMs": 1}))
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (1_110, 5)
    assert (answer.usage.cached_input_tokens, answer.usage.cache_write_tokens) == (1_000, 100)


def test_usage_that_never_came_is_counted_not_free(server: WireServer) -> None:
    text = _frame("contentBlockDelta", contentBlockIndex=0, delta={"text": "Hello"})
    _, answer = _ask(server, ChatRequest(HISTORY[:2], 500), text)
    assert answer.message.provider_data is None
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0


@pytest.mark.parametrize(
    ("region", "profile"), [("eu-central-2", "eu."), ("us-east-1", "us."), ("ap-northeast-1", "global.")]
)
def test_requests_stay_in_their_geography_and_are_signed_by_the_role(
    region: str, profile: str, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What Lambda gives a function of its role's credentials.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ROLEKEY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session")
    server.reply([STOP], content_type="application/vnd.amazon.eventstream")
    chat = BedrockChat(BedrockConnection(region, base_url=server.url))
    assemble(chat.stream_chat(model_for("bedrock"), ChatRequest(HISTORY[:2], 9), 10))
    assert server.paths[-1] == f"/model/{profile}recorded/converse-stream"
    headers = server.request_headers[-1]
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=ROLEKEY/")
    assert f"/{region}/bedrock/aws4_request" in headers["authorization"]
    assert headers["x-amz-security-token"] == "session"
