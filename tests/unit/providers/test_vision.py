"""Questions about pictures, in every provider's form (AI-01, AI-02)."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.bench.contents import WireFormat
from tests.bench.replay import adapter_for, model_for
from tests.bench.wire_server import WireServer
from werkbank.ai.assembly import assemble
from werkbank.ai.protocols import ChatProvider, ChatRequest
from werkbank.ai.text_protocol import TextProtocol
from werkbank.ai.tokens import estimate_prompt_tokens
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.media import Image
from werkbank.domain.messages import Message, ToolCall, ToolDefinition
from werkbank.providers import mistral
from werkbank.providers.openai import OpenAiChat

PNG = b"\x89PNG\r\n\x1a\n\xff"
DATA = base64.b64encode(PNG).decode()
QUESTION = Message(
    role="user",
    content="What is on these pictures?",
    images=(Image(data=PNG, mime_type="image/png"), Image(data=PNG, mime_type="image/jpeg")),
)
REQUEST = ChatRequest((Message(role="system", content="Be brief."), QUESTION), 500)


def _sent(server: WireServer, adapter: ChatProvider, format: WireFormat, request: ChatRequest = REQUEST) -> Any:
    """Return the body of a call; the empty answer does not matter."""
    server.reply([])
    with pytest.raises(IncompleteStream):
        assemble(adapter.stream_chat(model_for(format), request, 10))
    return json.loads(server.bodies[-1])


def test_anthropic(server: WireServer) -> None:
    body = _sent(server, adapter_for("anthropic", server.url), "anthropic")
    assert body["messages"][0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": DATA}},
        {"type": "text", "text": "What is on these pictures?"},
    ]


def test_openai(server: WireServer) -> None:
    body = _sent(server, adapter_for("responses", server.url), "responses")
    assert body["input"][1]["content"] == [
        {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}", "detail": "high"},
        {"type": "input_image", "image_url": f"data:image/jpeg;base64,{DATA}", "detail": "high"},
        {"type": "input_text", "text": "What is on these pictures?"},
    ]


@pytest.mark.parametrize("dialect", ["private", "mistral"])
def test_openai_compatible_servers(dialect: str, server: WireServer) -> None:
    mistrals = OpenAiChat("key", server.url, "Mistral", mistral.build_parameters)
    body = _sent(server, mistrals if dialect == "mistral" else OpenAiChat("key", server.url), "chat")
    assert body["messages"][1]["content"] == [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{DATA}"}},
        {"type": "text", "text": "What is on these pictures?"},
    ]


def test_bedrock(server: WireServer) -> None:
    body = _sent(server, adapter_for("bedrock", server.url), "bedrock")
    assert body["messages"][0]["content"] == [
        {"image": {"format": "png", "source": {"bytes": DATA}}},
        {"image": {"format": "jpeg", "source": {"bytes": DATA}}},
        {"text": "What is on these pictures?"},
    ]


CALLS = tuple(ToolCall(id=f"callnumb{n}", name="look", arguments="{}") for n in (1, 2))
TOOL = ToolDefinition(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
SHOWN = ChatRequest(
    (
        Message(role="user", content="Look."),
        Message(role="assistant", tool_calls=CALLS),
        Message(role="tool", tool_call_id="callnumb1", content="A map.", images=QUESTION.images[:1]),
        Message(role="tool", tool_call_id="callnumb2", content="Nothing."),
    ),
    500,
    (TOOL,),
)


def test_what_a_tool_shows_is_part_of_its_result(server: WireServer) -> None:
    results = _sent(server, adapter_for("anthropic", server.url), "anthropic", SHOWN)["messages"][-1]["content"]
    assert results[0]["content"] == [
        {"type": "text", "text": "A map."},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
    ]
    assert results[1]["content"] == "Nothing."
    results = _sent(server, adapter_for("responses", server.url), "responses", SHOWN)["input"][-2:]
    assert {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}", "detail": "high"} in results[0][
        "output"
    ]
    assert results[1]["output"] == "Nothing."
    results = _sent(server, adapter_for("bedrock", server.url), "bedrock", SHOWN)["messages"][-1]["content"]
    assert results[0]["toolResult"]["content"] == [
        {"text": "A map."},
        {"image": {"format": "png", "source": {"bytes": DATA}}},
    ]


def test_what_a_tool_shows_is_told_where_no_tools_are_offered(server: WireServer) -> None:
    body = _sent(server, adapter_for("bedrock", server.url), "bedrock", replace(SHOWN, may_call_tools=False))
    assert {"image": {"format": "png", "source": {"bytes": DATA}}} in body["messages"][-1]["content"]
    body = _sent(server, TextProtocol(adapter_for("anthropic", server.url)), "anthropic", SHOWN)
    assert [block["type"] for block in body["messages"][-1]["content"]] == ["image", "text"]


@pytest.mark.parametrize("is_asked_on", [False, True])
@pytest.mark.parametrize("dialect", ["private", "mistral"])
def test_what_a_tool_shows_stands_behind_results_that_take_only_text(
    server: WireServer, dialect: str, is_asked_on: bool
) -> None:
    mistrals = OpenAiChat("key", server.url, "Mistral", mistral.build_parameters)
    more = (Message(role="user", content="And now?"),) if is_asked_on else ()
    request = replace(SHOWN, messages=(*SHOWN.messages, *more))
    body = _sent(server, mistrals if dialect == "mistral" else OpenAiChat("key", server.url), "chat", request)
    roles = ["user", "assistant", "tool", "tool", *(["assistant"] if dialect == "mistral" else []), "user"]
    assert [message["role"] for message in body["messages"]] == [*roles, *(["user"] if is_asked_on else [])]
    shown = body["messages"][len(roles) - 1]["content"]
    assert shown[0] == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}


def test_pictures_count_as_tokens() -> None:
    blind = ChatRequest((REQUEST.messages[0], QUESTION.model_copy(update={"images": ()})), 500)
    assert estimate_prompt_tokens(REQUEST) == estimate_prompt_tokens(blind) + 10_000


def test_a_picture_survives_json() -> None:
    assert Message.model_validate_json(QUESTION.model_dump_json(by_alias=True)) == QUESTION
