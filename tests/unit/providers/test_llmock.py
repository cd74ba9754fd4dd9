"""The adapters against LLMock, a foreign server that breaks answers the way providers do and judges its client (AG-11).

The package llmock speaks the Messages API, the Responses API, and Chat Completions as OpenAI and as
Mistral do.
"""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.bench.replay import model_for
from werkbank.ai.assembly import assemble
from werkbank.ai.model import Model
from werkbank.ai.protocols import AssembledAnswer, ChatProvider, ChatRequest
from werkbank.domain.errors import (
    IncompleteStream,
    ModelNotFound,
    PromptTooLong,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    RetryableProviderError,
)
from werkbank.domain.messages import Message, ToolDefinition
from werkbank.providers import mistral
from werkbank.providers.anthropic import AnthropicChat
from werkbank.providers.openai import OpenAiChat, OpenAiResponses

pytest.importorskip("llmock", reason="LLMock is not installed")

TOOL = ToolDefinition(
    name="searchFiles",
    description="Searches the files.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
REQUEST = ChatRequest((Message(role="user", content="Tell me a long story about files."),), 500)
ADAPTERS: dict[str, tuple[str, Callable[[str], ChatProvider], Model]] = {
    "anthropic": ("anthropic", lambda url: AnthropicChat("key", url), model_for("anthropic")),
    "responses": ("openai", lambda url: OpenAiResponses("key", url), model_for("responses")),
    "chat": ("openai", lambda url: OpenAiChat("key", url), model_for("chat")),
    "mistral": (
        "mistral",
        lambda url: OpenAiChat("key", url, "Mistral", mistral.build_parameters),
        model_for("chat"),
    ),
}

Ask = Callable[..., AssembledAnswer]


@pytest.fixture(params=sorted(ADAPTERS))
def ask(request: pytest.FixtureRequest, llmock: Any) -> Ask:
    """Return a function that makes one call with one of the adapters."""
    provider, build, model = ADAPTERS[request.param]
    adapter = build(llmock.base_url(provider))

    def call(request: ChatRequest = REQUEST, timeout_seconds: float = 10) -> AssembledAnswer:
        return assemble(adapter.stream_chat(model, request, timeout_seconds))

    return call


def _once_more(ask: Ask) -> AssembledAnswer:
    """Do what AG-11 asks of the adapters' caller: wait as told, try again once."""
    try:
        return ask()
    except RetryableProviderError as error:
        time.sleep(getattr(error, "retry_after_seconds", None) or 0.1)
        return ask()


def test_whole_answers(ask: Ask, llmock: Any) -> None:
    llmock.reply("Es war einmal ein “Dokument”.")
    answer = ask()
    assert (answer.message.content, answer.stop_reason) == ("Es war einmal ein “Dokument”.", "stop")
    assert answer.usage.output_tokens > 0
    llmock.assert_resilient(strict=True)


def test_calls_come_in_fragments(ask: Ask, llmock: Any) -> None:
    llmock.call_tool("searchFiles", {"query": "was ist ein metrischer Raum?"})
    answer = ask(ChatRequest(REQUEST.messages, 500, (TOOL,)))
    (call,) = answer.message.tool_calls
    assert (call.name, answer.stop_reason) == ("searchFiles", "tool_calls")
    assert '"was ist ein metrischer Raum?"' in call.arguments


def test_a_conversation_with_tools_is_accepted(ask: Ask, llmock: Any) -> None:
    llmock.call_tool("searchFiles", {"query": "x"})
    answer = ask(ChatRequest(REQUEST.messages, 500, (TOOL,)))
    result = Message(role="tool", tool_call_id=answer.message.tool_calls[0].id, content="Nothing.")
    llmock.reply("There is nothing.")
    answer = ask(ChatRequest((*REQUEST.messages, answer.message, result), 500, (TOOL,)))
    assert answer.message.content == "There is nothing."


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, RequestRejected),
        (401, ProviderRefused),
        (403, ProviderRefused),
        (404, ModelNotFound),
        (422, RequestRejected),
        (429, RateLimited),
        (500, ProviderUnavailable),
        (502, ProviderUnavailable),
        (503, ProviderUnavailable),
        (529, ProviderUnavailable),
    ],
)
def test_http_errors(status: int, expected: type[ProviderError], ask: Ask, llmock: Any) -> None:
    llmock.fail(status, times=None)
    with pytest.raises(ProviderError) as raised:
        ask()
    assert type(raised.value) is expected
    assert len(llmock.requests) == 1


def test_a_prompt_too_long(ask: Ask, llmock: Any) -> None:
    llmock.context_overflow()
    with pytest.raises(PromptTooLong):
        ask()


def test_rate_limits_are_waited_for(ask: Ask, llmock: Any) -> None:
    llmock.rate_limit(retry_after=1)
    with pytest.raises(RateLimited) as raised:
        ask()
    assert raised.value.retry_after_seconds == 1
    llmock.reset()
    llmock.rate_limit(retry_after=0.3)
    assert _once_more(ask).message.content
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("after_chunks", [0, 1, 3, 5])
@pytest.mark.parametrize("kind", ["truncate", "disconnect", "corrupt"])
def test_broken_streams_are_failed_calls(kind: str, after_chunks: int, ask: Ask, llmock: Any) -> None:
    getattr(llmock, kind)(after_chunks=after_chunks)
    with pytest.raises(IncompleteStream):
        ask()
    llmock.reset()
    getattr(llmock, kind)(after_chunks=after_chunks)
    assert _once_more(ask).message.content
    llmock.assert_resilient()


def test_a_stalled_stream_is_given_up(ask: Ask, llmock: Any) -> None:
    llmock.stall(after_chunks=2, seconds=5)
    with pytest.raises(ProviderUnavailable):
        ask(timeout_seconds=0.5)


def test_a_call_of_no_json_is_handed_on_as_it_is(ask: Ask, llmock: Any) -> None:
    """The tool tells the model what is wrong with it; the adapter does not mend it."""
    llmock.call_tool("searchFiles", {"query": "x"})
    llmock.break_tool_call("malformed_arguments")
    answer = ask(ChatRequest(REQUEST.messages, 500, (TOOL,)))
    assert answer.message.tool_calls[0].arguments
