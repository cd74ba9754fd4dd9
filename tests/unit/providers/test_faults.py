"""AG-11: every provider's faults by class, from real HTTP answers through the real SDKs."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.bench.contents import WireFormat
from tests.bench.recordings import event_frame
from tests.bench.replay import adapter_for, ask, model_for
from tests.bench.wire_server import WireServer
from werkbank.ai.protocols import ChatRequest
from werkbank.domain.errors import (
    IncompleteStream,
    ModelNotFound,
    PromptTooLong,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    ThinkingRefused,
    ToolsUnsupported,
)
from werkbank.domain.messages import Message
from werkbank.providers.faults import fault, retry_after_seconds

SSE_FORMATS: tuple[WireFormat, ...] = ("anthropic", "chat", "responses")
FORMATS: tuple[WireFormat, ...] = (*SSE_FORMATS, "bedrock")


def _error_body(format: WireFormat, code: str, message: str = "no") -> bytes:
    if format == "anthropic":
        return json.dumps({"type": "error", "error": {"type": code, "message": message}}).encode()
    if format == "bedrock":
        return json.dumps({"__type": code, "message": message}).encode()
    return json.dumps({"error": {"code": code, "type": code, "message": message, "param": None}}).encode()


def _raised(server: WireServer, format: WireFormat) -> ProviderError:
    """Make a call that must fail; check that the SDK's hidden retries are off."""
    before = len(server.bodies)
    with pytest.raises(ProviderError) as raised:
        ask(format, server.url)
    assert len(server.bodies) == before + 1
    return raised.value


@pytest.mark.parametrize("format", SSE_FORMATS)
@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "invalid_request_error", RequestRejected),
        (400, "", RequestRejected),
        (400, "context_length_exceeded", PromptTooLong),
        (401, "authentication_error", ProviderRefused),
        (401, "invalid_request_error", ProviderRefused),
        (402, "billing_error", ProviderRefused),
        (402, "", ProviderRefused),
        (403, "permission_error", ProviderRefused),
        (403, "", ProviderRefused),
        (404, "not_found_error", ModelNotFound),
        (404, "model_not_found", ModelNotFound),
        (404, "invalid_request_error", ModelNotFound),
        (408, "", ProviderUnavailable),
        (409, "", ProviderUnavailable),
        (410, "", ModelNotFound),
        (413, "request_too_large", PromptTooLong),
        (413, "", PromptTooLong),
        (422, "", RequestRejected),
        (425, "", ProviderUnavailable),
        (429, "rate_limit_error", RateLimited),
        (429, "rate_limit_exceeded", RateLimited),
        (429, "invalid_request_error", RateLimited),
        (429, "", RateLimited),
        (429, "insufficient_quota", ProviderRefused),
        (429, "billing_hard_limit_reached", ProviderRefused),
        (500, "api_error", ProviderUnavailable),
        (500, "", ProviderUnavailable),
        (502, "", ProviderUnavailable),
        (503, "", ProviderUnavailable),
        (504, "timeout_error", ProviderUnavailable),
        (529, "overloaded_error", ProviderUnavailable),
    ],
)
def test_http_errors(
    format: WireFormat, status: int, code: str, expected: type[ProviderError], server: WireServer
) -> None:
    server.reply([_error_body(format, code)], status=status, content_type="application/json")
    assert type(_raised(server, format)) is expected


# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html#API_runtime_ConverseStream_Errors
@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "ValidationException", RequestRejected),
        (403, "AccessDeniedException", ProviderRefused),
        (403, "ExpiredTokenException", ProviderRefused),
        (403, "UnrecognizedClientException", ProviderRefused),
        (404, "ResourceNotFoundException", ModelNotFound),
        (408, "ModelTimeoutException", ProviderUnavailable),
        (424, "ModelErrorException", ProviderUnavailable),
        (429, "ModelNotReadyException", RateLimited),
        (429, "ThrottlingException", RateLimited),
        (400, "ServiceQuotaExceededException", RateLimited),
        (500, "InternalServerException", ProviderUnavailable),
        (503, "ServiceUnavailableException", ProviderUnavailable),
    ],
)
@pytest.mark.parametrize("place", ["header", "body"])
def test_http_errors_of_bedrock(
    place: str, status: int, code: str, expected: type[ProviderError], server: WireServer
) -> None:
    body = _error_body("bedrock", code) if place == "body" else b'{"message":"no"}'
    headers = {"x-amzn-errortype": f"{code}:http://internal.amazon.com/"} if place == "header" else {}
    server.reply([body], status=status, headers=headers, content_type="application/json")
    assert type(_raised(server, "bedrock")) is expected


# The sentences of the providers themselves, as their users report them.
@pytest.mark.parametrize(
    ("format", "status", "code", "message", "expected"),
    [
        (
            "anthropic",
            400,
            "invalid_request_error",
            "prompt is too long: 208310 tokens > 200000 maximum",
            PromptTooLong,
        ),
        (
            "anthropic",
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
            PromptTooLong,
        ),
        (
            "chat",
            400,
            "BadRequestError",
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
            PromptTooLong,
        ),
        ("chat", 500, "", "Prompt is too long (200348 tokens > 200000 maximum)", PromptTooLong),
        (
            "chat",
            400,
            "exceed_context_size_error",
            "the request exceeds the available context size, try increasing it",
            PromptTooLong,
        ),
        ("responses", 400, "context_length_exceeded", "Your input exceeds the context window.", PromptTooLong),
        ("bedrock", 400, "ValidationException", "Input is too long for requested model.", PromptTooLong),
        (
            "bedrock",
            400,
            "ValidationException",
            "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum",
            PromptTooLong,
        ),
        (
            "chat",
            404,
            "404",
            "No endpoints found that support tool use. To learn more about provider routing, visit: https://x",
            ToolsUnsupported,
        ),
        ("chat", 404, "404", "No endpoints found that support the provided 'tool_choice' value.", ToolsUnsupported),
        ("chat", 400, "api_error", "registry.ollama.ai/library/gemma:2b does not support tools", ToolsUnsupported),
        (
            "chat",
            400,
            "BadRequestError",
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            ToolsUnsupported,
        ),
        ("chat", 500, "server_error", "tools param requires --jinja flag", ToolsUnsupported),
        ("chat", 400, "invalid_request_error", "`tool calling` is not supported with this model", ToolsUnsupported),
        ("chat", 400, "", "Function calling is not enabled for this model", ToolsUnsupported),
        ("chat", 400, "", "This model doesn't support tool calls", ToolsUnsupported),
        ("chat", 400, "unsupported_request", "Model 'gemma' does not support tool calls.", ToolsUnsupported),
        ("chat", 400, "", "`tools` are not available for this model", ToolsUnsupported),
        ("chat", 405, "405", "deepinfra error: Tool calling is not supported for model: x/y", ToolsUnsupported),
        ("chat", 400, "", "tools is not supported in this model. For a list of supported models,", ToolsUnsupported),
        ("chat", 400, "", "Tool use is unsupported here.", ToolsUnsupported),
        (
            "chat",
            400,
            "400",
            "litellm.UnsupportedParamsError: bedrock does not support parameters: ['tools', 'tool_choice'], for",
            ToolsUnsupported,
        ),
        (
            "chat",
            400,
            "Client specified an invalid argument",
            "Invalid request content: The model does not support tool use or function calling but tools or tool_choice",
            ToolsUnsupported,
        ),
        (
            "chat",
            400,
            "BadRequestError",
            "[{'type': 'extra_forbidden', 'loc': ('body', 'tools'), 'msg': 'Extra inputs are not permitted'}]",
            ToolsUnsupported,
        ),
        ("chat", 400, "", "Value error, Currently only named tools are supported.", ToolsUnsupported),
        # of tools, but no refusal of them
        ("chat", 400, "", "This model does not support tool results with images.", RequestRejected),
        ("chat", 400, "", "Invalid 'tools': 200 tools are more than the 128 supported.", RequestRejected),
        (
            "responses",
            400,
            "unsupported_parameter",
            "Unsupported parameter: 'tools' is not supported",
            ToolsUnsupported,
        ),
        ("bedrock", 400, "ValidationException", "This model doesn't support tool use.", ToolsUnsupported),
        (
            "bedrock",
            400,
            "ValidationException",
            "This model doesn't support tool use in streaming mode.",
            ToolsUnsupported,
        ),
        (
            "anthropic",
            400,
            "invalid_request_error",
            "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
            "conversation. Remove the block",
            ThinkingRefused,
        ),
        (
            "anthropic",
            400,
            "invalid_request_error",
            "messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
            "modified. These blocks must remain as they were in the original response.",
            ThinkingRefused,
        ),
        (
            "bedrock",
            400,
            "ValidationException",
            "The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block",
            ThinkingRefused,
        ),
        (
            "responses",
            400,
            "invalid_encrypted_content",
            "The encrypted content gAAA...DQ== could not be verified.",
            ThinkingRefused,
        ),
        ("bedrock", 400, "ValidationException", "The provided model identifier is invalid.", ModelNotFound),
        (
            "bedrock",
            400,
            "ValidationException",
            "Invocation of model ID anthropic.x with on-demand throughput isn’t supported. Retry your request",
            ModelNotFound,
        ),
        (
            "bedrock",
            403,
            "AccessDeniedException",
            "You don't have access to the model with the specified model ID.",
            ModelNotFound,
        ),
        ("chat", 404, "", "Model gpt-1 not found", ModelNotFound),
        ("chat", 429, "", "You asked: which models do not support tools?", RateLimited),
    ],
)
def test_sentences_say_more_than_the_status(
    format: WireFormat, status: int, code: str, message: str, expected: type[ProviderError], server: WireServer
) -> None:  # AI-07
    server.reply([_error_body(format, code, message)], status=status, content_type="application/json")
    error = _raised(server, format)
    assert type(error) is expected
    assert message not in str(error)


def test_a_sentence_deep_in_a_text_does_not_count() -> None:
    """A provider may repeat the prompt in its error, and the prompt may say anything."""
    echoed = "Invalid field. " + "x" * 500 + " this model does not support tools"
    assert type(fault("It", 400, (), {}, echoed)) is RequestRejected


# Mistral answers with the error at the top of the body, and OpenAI's SDK reads it there.
@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            400,
            {"object": "error", "message": "Prompt contains 40000 tokens, too large for model", "code": "3051"},
            PromptTooLong,
        ),
        (
            400,
            {"object": "error", "message": "Invalid model: x", "type": "invalid_model", "code": "1500"},
            ModelNotFound,
        ),
        (422, {"object": "error", "message": {"detail": []}, "type": "invalid_request_error"}, RequestRejected),
        (422, {"detail": [{"type": "extra_forbidden", "msg": "Extra inputs are not permitted"}]}, RequestRejected),
        (401, {"detail": "Unauthorized"}, ProviderRefused),
        (429, {"object": "error", "message": "Requests rate limit exceeded", "type": "rate_limited"}, RateLimited),
    ],
)
def test_errors_at_the_top_of_the_body(
    status: int, body: dict[str, object], expected: type[ProviderError], server: WireServer
) -> None:
    server.reply([json.dumps(body).encode()], status=status, content_type="application/json")
    assert type(_raised(server, "chat")) is expected


@pytest.mark.parametrize("format", FORMATS)
def test_a_page_of_html_instead_of_json(format: WireFormat, server: WireServer) -> None:
    server.reply([b"<html>bad gateway</html>"], status=502, content_type="text/html")
    assert type(_raised(server, format)) is ProviderUnavailable


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("value", ["7", "date"])
def test_retry_after_reaches_the_caller(format: WireFormat, value: str, server: WireServer) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    server.reply(
        [_error_body(format, "ThrottlingException" if format == "bedrock" else "rate_limit_error")],
        status=429,
        headers={"retry-after": date if value == "date" else value},
        content_type="application/json",
    )
    error = _raised(server, format)
    assert isinstance(error, RateLimited)
    assert error.retry_after_seconds is not None
    assert error.retry_after_seconds == 7 or 20 < error.retry_after_seconds <= 30


def test_retry_after_in_all_its_forms() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert retry_after_seconds({}) is None
    assert retry_after_seconds({"retry-after": "1.5"}) == 1.5
    assert retry_after_seconds({"retry-after": "0"}) == 0
    assert retry_after_seconds({"retry-after": "-3"}) == 0
    assert retry_after_seconds({"retry-after": "soon"}) is None
    assert retry_after_seconds({"retry-after": "nan"}) is None
    assert retry_after_seconds({"retry-after": "1e999"}) is None
    assert retry_after_seconds({"retry-after": "2", "retry-after-ms": "1500"}) == 1.5
    assert retry_after_seconds({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after_seconds({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}) == 0
    wait = retry_after_seconds({"retry-after": later})
    assert wait is not None
    assert 80 < wait <= 90


def _sse(event: dict[str, object]) -> bytes:
    return f"event: {event.get('type')}\ndata: {json.dumps(event)}\n\n".encode()


def _amazon_exception(name: str, message: str = "no") -> bytes:
    return event_frame("exception", name, json.dumps({"message": message}).encode())


@pytest.mark.parametrize("begun", [False, True], ids=["at once", "in the middle"])
@pytest.mark.parametrize(
    ("format", "event", "expected"),
    [
        ("anthropic", _sse({"type": "error", "error": {"type": "overloaded_error"}}), ProviderUnavailable),
        ("anthropic", _sse({"type": "error", "error": {"type": "api_error"}}), ProviderUnavailable),
        ("anthropic", _sse({"type": "error", "error": {"type": "rate_limit_error"}}), RateLimited),
        ("anthropic", _sse({"type": "error", "error": {"type": "authentication_error"}}), ProviderRefused),
        (
            "anthropic",
            _sse({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 3"}}),
            PromptTooLong,
        ),
        ("chat", b'data: {"error":{"code":"server_error","message":"no"}}\n\n', ProviderUnavailable),
        ("chat", b'data: {"error":{"code":502,"message":"Provider disconnected"}}\n\n', ProviderUnavailable),
        ("chat", b'data: {"error":{"code":429,"message":"slow down"}}\n\n', RateLimited),
        ("chat", b'data: {"error":{"code":401,"message":"no"}}\n\n', ProviderRefused),
        ("chat", b'data: {"error":{"message":"no"}}\n\n', ProviderUnavailable),
        ("chat", b'data: {"object":"error","message":"no","type":"service_unavailable"}\n\n', ProviderUnavailable),
        ("chat", b'data: {"object":"error","message":"no","type":"x","code":400}\n\n', RequestRejected),
        ("chat", b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}\n\n', ProviderUnavailable),
        ("responses", _sse({"type": "error", "code": "rate_limit_exceeded", "message": "no"}), RateLimited),
        ("responses", _sse({"type": "error", "code": None, "message": "no"}), ProviderUnavailable),
        (
            "responses",
            _sse({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "no"}}}),
            ProviderUnavailable,
        ),
        ("responses", _sse({"type": "response.failed", "response": {"error": None}}), ProviderUnavailable),
        (
            "responses",
            _sse({"type": "response.failed", "response": {"error": {"code": "invalid_prompt", "message": "no"}}}),
            RequestRejected,
        ),
        ("bedrock", _amazon_exception("throttlingException"), RateLimited),
        ("bedrock", _amazon_exception("modelStreamErrorException"), ProviderUnavailable),
        ("bedrock", _amazon_exception("internalServerException"), ProviderUnavailable),
        ("bedrock", _amazon_exception("serviceUnavailableException"), ProviderUnavailable),
        ("bedrock", _amazon_exception("validationException"), RequestRejected),
        ("bedrock", _amazon_exception("validationException", "Input is too long for requested model."), PromptTooLong),
    ],
)
def test_errors_inside_a_stream(
    format: WireFormat, event: bytes, expected: type[ProviderError], begun: bool, server: WireServer
) -> None:
    server.reply([BEGINNINGS[format], event] if begun else [event])
    assert type(_raised(server, format)) is expected


BEGINNINGS: dict[WireFormat, bytes] = {
    "anthropic": _sse({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}}),
    "chat": b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
    "responses": _sse({"type": "response.output_text.delta", "delta": "a", "output_index": 0}),
    "bedrock": event_frame("event", "contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"a"}}'),
}
DAMAGED: dict[WireFormat, bytes] = {
    "anthropic": b'event: content_block_delta\ndata: {"type":"content_bl\n\n',
    "chat": b'data: {"choices":[{"index":0,"delta"\n\n',
    "responses": b'event: response.output_text.delta\ndata: {"type":"respo\n\n',
    "bedrock": BEGINNINGS["bedrock"][:-3] + b"\0\0\0",
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_damaged_event_is_a_failed_call(format: WireFormat, server: WireServer) -> None:
    server.reply([BEGINNINGS[format], DAMAGED[format]])
    assert type(_raised(server, format)) is IncompleteStream


def test_an_event_of_bedrock_that_is_no_json_is_a_failed_call(server: WireServer) -> None:
    server.reply([event_frame("event", "contentBlockDelta", b'{"contentBlockIndex":0,')])
    assert type(_raised(server, "bedrock")) is IncompleteStream


@pytest.mark.parametrize("format", FORMATS)
def test_nobody_listens(format: WireFormat) -> None:
    with pytest.raises(ProviderUnavailable):
        ask(format, "http://127.0.0.1:9")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("begun", [False, True], ids=["at once", "in the middle"])
def test_a_silent_server_runs_into_the_timeout(format: WireFormat, begun: bool, server: WireServer) -> None:
    server.reply(_never(BEGINNINGS[format] if begun else b""))
    request = ChatRequest((Message(role="user", content="?"),), 10)
    with pytest.raises(ProviderUnavailable):
        list(adapter_for(format, server.url).stream_chat(model_for(format), request, 0.2))


def _never(beginning: bytes) -> Iterator[bytes]:
    yield beginning
    threading.Event().wait(2)
    yield b""
