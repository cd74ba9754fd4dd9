"""Questions about pictures, in every provider's form (AI-01, AI-02)."""

import base64
import json
from typing import Any

import pytest

from tests.bench.contents import WireFormat
from tests.bench.replay import adapter_for, model_for
from tests.bench.wire_server import WireServer
from werkbank.ai.assembly import assemble
from werkbank.ai.protocols import ChatProvider, ChatRequest
from werkbank.ai.tokens import estimate_prompt_tokens
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.media import Image
from werkbank.domain.messages import Message
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


def _sent(server: WireServer, adapter: ChatProvider, format: WireFormat) -> Any:
    """Return the body of a call; the empty answer does not matter."""
    server.reply([])
    with pytest.raises(IncompleteStream):
        assemble(adapter.stream_chat(model_for(format), REQUEST, 10))
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


def test_pictures_count_as_tokens() -> None:
    blind = ChatRequest((REQUEST.messages[0], QUESTION.model_copy(update={"images": ()})), 500)
    assert estimate_prompt_tokens(REQUEST) == estimate_prompt_tokens(blind) + 10_000


def test_a_picture_survives_json() -> None:
    assert Message.model_validate_json(QUESTION.model_dump_json(by_alias=True)) == QUESTION
