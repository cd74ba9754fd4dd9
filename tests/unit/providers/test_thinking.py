"""Thinking goes back to its model only behind what that model saw: elsewhere it has the request refused (AI-06)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from tests.bench.recordings import event_frame
from tests.bench.replay import adapter_for, model_for
from tests.bench.wire_server import Reply, WireServer
from werkbank.ai.assembly import assemble
from werkbank.ai.model import Capability
from werkbank.ai.protocols import ChatRequest
from werkbank.domain.messages import Message, ToolDefinition
from werkbank.providers.anthropic import AnthropicChat

Format = Literal["anthropic", "bedrock"]
FORMATS: tuple[Format, ...] = ("anthropic", "bedrock")
TOOL = ToolDefinition(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
ANOTHER = TOOL.model_copy(update={"name": "find"})
SYSTEM, QUESTION = Message(role="system", content="Be brief."), Message(role="user", content="What is there?")
FIRST = ChatRequest((SYSTEM, QUESTION), 500, (TOOL,))


def answer_of(format: Format, n: int) -> list[bytes]:
    """An answer that thinks, then calls a tool."""
    if format == "bedrock":
        return [
            frame("contentBlockDelta", contentBlockIndex=0, delta={"reasoningContent": {"signature": f"sig{n}"}}),
            frame("contentBlockStart", contentBlockIndex=1, start={"toolUse": {"toolUseId": f"t{n}", "name": "look"}}),
            frame("messageStop", stopReason="tool_use"),
        ]
    content = [
        {"type": "thinking", "thinking": "", "signature": f"sig{n}"},
        {"type": "tool_use", "id": f"t{n}", "name": "look", "input": {"b": 1, "a": 2}},
    ]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": f"m{n}", "content": content, "usage": {"input_tokens": 1}}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def frame(name: str, **payload: Any) -> bytes:
    return event_frame("event", name, json.dumps(payload).encode())


def ask(server: WireServer, format: Format, request: ChatRequest, n: int) -> tuple[list[str], Message]:
    """Make a call; return the thinking that was sent, and the answer."""
    content_type = "application/vnd.amazon.eventstream" if format == "bedrock" else "text/event-stream"
    server.reply(answer_of(format, n), content_type=content_type)
    answer = assemble(adapter_for(format, server.url).stream_chat(model_for(format), request, 10)).message
    return thoughts_in(json.loads(server.bodies[-1])), answer


def thoughts_in(body: dict[str, Any]) -> list[str]:
    blocks = [block for message in body["messages"] for block in message["content"]]
    ours = [block.get("reasoningContent", {}).get("reasoningText", block) for block in blocks]
    return [block["signature"] for block in ours if "signature" in block]


def result_of(n: int) -> Message:
    return Message(role="tool", tool_call_id=f"t{n}", content="Nothing.")


def two_rounds(server: WireServer, format: Format) -> tuple[ChatRequest, Sequence[Message]]:
    """Ask twice; return the third request and the two answers in it."""
    _, first = ask(server, format, FIRST, 1)
    second_request = replace(FIRST, messages=(*FIRST.messages, first, result_of(1)))
    sent, second = ask(server, format, second_request, 2)
    assert sent == ["sig1"]
    return replace(FIRST, messages=(*second_request.messages, second, result_of(2))), (first, second)


@pytest.mark.parametrize("format", FORMATS)
def test_all_thinking_goes_back_behind_an_unchanged_prompt(server: WireServer, format: Format) -> None:
    third, _ = two_rounds(server, format)
    assert ask(server, format, third, 3)[0] == ["sig1", "sig2"]
    # the closing call offers the same tools, and forbids them: Bedrock has no way to say so
    last = replace(third, messages=(*third.messages, Message(role="user", content="Sum up.")), may_call_tools=False)
    assert ask(server, format, last, 4)[0] == (["sig1", "sig2"] if format == "anthropic" else [])


CHANGES = {
    "system": lambda request: replace(request, messages=(Message(role="system", content="x"), *request.messages[1:])),
    "tools": lambda request: replace(request, tools=(TOOL, ANOTHER)),
    "question": lambda request: replace(
        request, messages=(SYSTEM, Message(role="user", content="?"), *request.messages[2:])
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("format", FORMATS)
def test_thinking_stays_away_behind_anything_else(server: WireServer, format: Format, change: str) -> None:
    third, _ = two_rounds(server, format)
    changed = CHANGES[change](third)
    sent, answer = ask(server, format, changed, 3)
    assert sent == []
    # what is thought from now on is bound to the changed prompt, and goes back behind it
    fourth = replace(changed, messages=(*changed.messages, answer, result_of(3)))
    assert ask(server, format, fourth, 4)[0] == ["sig3"]


@pytest.mark.parametrize("format", FORMATS)
def test_thinking_goes_where_only_what_is_behind_it_has_changed(server: WireServer, format: Format) -> None:
    third, (first, second) = two_rounds(server, format)
    told = Message(role="tool", tool_call_id="t1", content="Something else.")
    changed = replace(third, messages=(SYSTEM, QUESTION, first, told, second, result_of(2)))
    assert ask(server, format, changed, 3)[0] == ["sig1"]


@pytest.mark.parametrize("format", FORMATS)
def test_thinking_behind_thinking_that_was_left_out_stays_away_too(server: WireServer, format: Format) -> None:
    third, (first, second) = two_rounds(server, format)
    bare = first.model_copy(update={"provider_data": None})
    changed = replace(third, messages=(SYSTEM, QUESTION, bare, result_of(1), second, result_of(2)))
    assert ask(server, format, changed, 3)[0] == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_request_without_thinking_keeps_the_calls(server: WireServer, format: Format) -> None:
    third, _ = two_rounds(server, format)
    assert ask(server, format, third.without_thinking(), 3)[0] == []
    sent = json.dumps(json.loads(server.bodies[-1])["messages"])
    assert all(sent.count(f'"t{n}"') == 2 for n in (1, 2))


NOTED = model_for("anthropic").model_copy(update={"capabilities": frozenset({Capability.TOOLS, Capability.NOTES})})
BETA = "thinking-display-updates-2026-08-18"
ASKED_FOR = {"type": "adaptive", "display": "updates"}


def noted(*blocks: tuple[str, str]) -> list[bytes]:
    """An answer of thinking and text blocks, in pieces."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 1}}}
    ]
    for index, (kind, text) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}})
        pieces = ({"type": f"{kind}_delta", kind: piece} for piece in (text[:4], text[4:]))
        events.extend({"type": "content_block_delta", "index": index, "delta": piece} for piece in pieces)
    events.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}})
    events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def test_notes_between_tool_calls_are_asked_for_and_shown(server: WireServer) -> None:
    server.reply(
        noted(("thinking", ""), ("thinking", "I found it. Now I look."), ("text", "It is "), ("text", "here."))
    )
    answer = assemble(AnthropicChat("key", server.url).stream_chat(NOTED, FIRST, 10)).message
    assert json.loads(server.bodies[-1])["thinking"] == ASKED_FOR
    assert server.request_headers[-1]["anthropic-beta"] == BETA
    assert answer.content == "I found it. Now I look.\n\nIt is here."
    # and they go back as they came
    ask_again = replace(FIRST, messages=(*FIRST.messages, answer, QUESTION))
    assemble(AnthropicChat("key", server.url).stream_chat(NOTED, ask_again, 10))
    sent = json.loads(server.bodies[-1])["messages"][1]["content"]
    assert [(block["type"], block.get("thinking")) for block in sent[:2]] == [
        ("thinking", ""),
        ("thinking", "I found it. Now I look."),
    ]


def test_what_was_not_asked_for_is_not_shown(server: WireServer) -> None:
    server.reply(noted(("thinking", "Private thought."), ("text", "It is here.")))
    toolless = replace(FIRST, tools=())
    for model, request in ((model_for("anthropic"), FIRST), (NOTED, toolless)):
        answer = assemble(AnthropicChat("key", server.url).stream_chat(model, request, 10)).message
        assert answer.content == "It is here."
        assert "thinking" not in json.loads(server.bodies[-1])
        assert "anthropic-beta" not in server.request_headers[-1]


@pytest.mark.parametrize(
    "message",
    [
        f"Unexpected value(s) `{BETA}` for the `anthropic-beta` header.",
        "thinking.adaptive.display: Input should be 'summarized' or 'omitted'",
        "thinking.display: Extra inputs are not permitted",
    ],
)
def test_a_server_in_between_that_knows_no_notes_is_asked_without(server: WireServer, message: str) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    server.reply_once(Reply([json.dumps(error).encode()], 400, {"content-type": "application/json"}))
    server.reply(noted(("thinking", ""), ("text", "It is here.")))
    adapter, known = AnthropicChat("key", server.url), len(server.bodies)
    for _ in range(2):
        assert assemble(adapter.stream_chat(NOTED, FIRST, 10)).message.content == "It is here."
    asked = [json.loads(body).get("thinking") for body in server.bodies[known:]]
    assert asked == [ASKED_FOR, None, None]
