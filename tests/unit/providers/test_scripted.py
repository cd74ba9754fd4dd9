"""The scripted model and server behave like the real thing."""

import threading

import pytest

from tests.scripted_model import SCRIPTED, ScriptedModel
from tests.scripted_server import BREAK, Fault, Hold, scripted_server
from werkbank.ai.assembly import assemble
from werkbank.ai.protocols import ChatRequest, TextDelta
from werkbank.domain.errors import IncompleteStream, ProviderUnavailable, RateLimited
from werkbank.domain.messages import Message, ToolCall
from werkbank.providers.openai import OpenAiChat

CALL = ToolCall(id="c1", name="listFiles", arguments="{}")
REQUEST = ChatRequest((Message(role="user", content="?"),), 100)


def test_scripted_model() -> None:
    model = ScriptedModel([[CALL], ["You have ", "two."], ["half", ProviderUnavailable("gone")]])
    first, second = (assemble(model.stream_chat(SCRIPTED, REQUEST, 1)) for _ in range(2))
    assert (first.message.tool_calls, first.stop_reason) == ((CALL,), "tool_calls")
    assert second.message.content == "You have two."
    with pytest.raises(ProviderUnavailable):
        assemble(model.stream_chat(SCRIPTED, REQUEST, 1))
    assert model.requests == [REQUEST] * 3


def test_scripted_server() -> None:
    gate = threading.Event()
    with scripted_server([[CALL], ["Hello ", Hold(gate), "world"], ["half", BREAK], [Fault(429)]]) as server:
        provider = OpenAiChat("none", server.url)
        assert assemble(provider.stream_chat(SCRIPTED, REQUEST, 10)).message.tool_calls == (CALL,)
        deltas = provider.stream_chat(SCRIPTED, REQUEST, 10)
        assert next(deltas) == TextDelta("Hello ")
        gate.set()
        assert next(deltas) == TextDelta("world")
        deltas.close()
        with pytest.raises(IncompleteStream):
            assemble(provider.stream_chat(SCRIPTED, REQUEST, 10))
        with pytest.raises(RateLimited):
            assemble(provider.stream_chat(SCRIPTED, REQUEST, 10))
        assert len(server.requests) == 4
