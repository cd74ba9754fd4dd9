"""A private server may refuse what others take: it is asked again without (AI-04)."""

import json
from typing import Any

import pytest

from tests.bench.replay import model_for
from tests.bench.wire_server import Reply, WireServer
from tests.unit.providers.test_requests import SHORT_ANSWERS
from werkbank.ai.assembly import assemble
from werkbank.ai.model import Capability
from werkbank.ai.protocols import ChatRequest
from werkbank.domain.errors import ProviderError, RequestRejected
from werkbank.domain.messages import Message
from werkbank.providers.openai import OpenAiChat

REQUEST = ChatRequest((Message(role="user", content="Hello"),), 500, temperature=0.2)
MODEL = model_for("chat").model_copy(update={"capabilities": frozenset({Capability.TEMPERATURE})})
USUAL = {"max_tokens", "temperature", "stream_options"}
OPTIONAL = {*USUAL, "max_completion_tokens"}


def refusal(message: str, status: int = 400) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": "unsupported_parameter"}
    return Reply([json.dumps({"error": error}).encode()], status, {"content-type": "application/json"})


MAX_TOKENS = refusal(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)
TEMPERATURE = refusal(
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."
)


def ask(server: WireServer, adapter: OpenAiChat, *refusals: Reply) -> list[dict[str, Any]]:
    """Make a call that must be answered in the end; return the bodies of its requests."""
    known = len(server.bodies)
    server.forget_replies()
    for reply in refusals:
        server.reply_once(reply)
    server.reply(SHORT_ANSWERS["chat"])
    assert assemble(adapter.stream_chat(MODEL, REQUEST, 10)).message.content == "Ok."
    return [json.loads(body) for body in server.bodies[known:]]


def names_in(body: dict[str, Any]) -> set[str]:
    return OPTIONAL & body.keys()


def test_a_reasoning_model_behind_a_private_server_is_asked_as_it_wants(server: WireServer) -> None:
    adapter = OpenAiChat("key", server.url)
    first, second, third = ask(server, adapter, MAX_TOKENS, TEMPERATURE)
    assert names_in(first) == USUAL
    assert names_in(second) == {"max_completion_tokens", "temperature", "stream_options"}
    assert names_in(third) == {"max_completion_tokens", "stream_options"}
    assert third["max_completion_tokens"] == 500
    # remembered: the next call costs no detour
    (again,) = ask(server, adapter)
    assert names_in(again) == names_in(third)


@pytest.mark.parametrize(
    ("status", "message", "refused"),
    [
        (400, "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra'}]", "stream_options"),
        (422, "body.stream_options: Extra inputs are not permitted", "stream_options"),
        (400, "Unrecognized request argument supplied: stream_options", "stream_options"),
        (400, "json: unknown field \"stream_options\"", "stream_options"),
        (400, "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.2. Only 1 is", "temperature"),
        (400, "`temperature` is deprecated for this model.", "temperature"),
        (400, "Argument not supported on this model: temperature", "temperature"),
    ],
)  # fmt: skip
def test_the_servers_own_words(server: WireServer, status: int, message: str, refused: str) -> None:
    _, taken = ask(server, OpenAiChat("key", server.url), refusal(message, status))
    assert names_in(taken) == USUAL - {refused}


def test_a_server_that_takes_neither_name_gets_no_limit(server: WireServer) -> None:
    both = refusal("Unsupported parameter: 'max_completion_tokens' is not supported with this model.")
    *_, taken = ask(server, OpenAiChat("key", server.url), MAX_TOKENS, both)
    assert names_in(taken) == {"temperature", "stream_options"}


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 500. This model supports at most 400 completion tokens.",
        "Unsupported parameter: 'messages' is not supported.",
        "Invalid request. " + "x" * 400 + " temperature is not supported",
    ],
)
def test_other_faults_are_nobodys_parameter(server: WireServer, message: str) -> None:
    known = len(server.bodies)
    server.reply(refusal(message).pieces, status=400, content_type="application/json")
    with pytest.raises(ProviderError):
        assemble(OpenAiChat("key", server.url).stream_chat(MODEL, REQUEST, 10))
    assert len(server.bodies) == known + 1


def test_a_server_that_refuses_the_same_again_is_given_up(server: WireServer) -> None:
    known = len(server.bodies)
    server.reply(TEMPERATURE.pieces, status=400, content_type="application/json")
    with pytest.raises(RequestRejected):
        assemble(OpenAiChat("key", server.url).stream_chat(MODEL, REQUEST, 10))
    assert len(server.bodies) == known + 2
