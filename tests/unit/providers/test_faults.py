"""AG-11: every provider's faults by class, from real HTTP answers through the real SDKs."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.bench.recordings import WireFormat
from tests.bench.replay import adapter_for, ask, model_for
from tests.bench.wire_server import WireServer, running
from werkbank.ai.protocols import ChatRequest
from werkbank.domain.errors import (
    ModelNotFound,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
)
from werkbank.domain.messages import Message
from werkbank.providers.faults import retry_after_seconds

FORMATS: tuple[WireFormat, ...] = ("anthropic", "chat", "responses")


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with running() as wire_server:
        yield wire_server


def _error_body(format: WireFormat, code: str) -> bytes:
    if format == "anthropic":
        return json.dumps({"type": "error", "error": {"type": code, "message": "no"}}).encode()
    return json.dumps({"error": {"code": code, "type": code, "message": "no", "param": None}}).encode()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "invalid_request_error", RequestRejected),
        (401, "authentication_error", ProviderRefused),
        (402, "billing_error", ProviderRefused),
        (403, "permission_error", ProviderRefused),
        (404, "not_found_error", ModelNotFound),
        (404, "model_not_found", ModelNotFound),
        (404, "invalid_request_error", ModelNotFound),
        (408, "", ProviderUnavailable),
        (413, "request_too_large", RequestRejected),
        (429, "rate_limit_error", RateLimited),
        (429, "insufficient_quota", ProviderRefused),
        (500, "api_error", ProviderUnavailable),
        (503, "", ProviderUnavailable),
        (529, "overloaded_error", ProviderUnavailable),
    ],
)
def test_http_errors(
    format: WireFormat, status: int, code: str, expected: type[ProviderError], server: WireServer
) -> None:
    server.reply([_error_body(format, code)], status=status, content_type="application/json")
    before = len(server.bodies)
    with pytest.raises(ProviderError) as raised:
        ask(format, server.url)
    assert type(raised.value) is expected
    # The SDKs' hidden retries are off.
    assert len(server.bodies) == before + 1


@pytest.mark.parametrize("format", FORMATS)
def test_a_page_of_html_instead_of_json(format: WireFormat, server: WireServer) -> None:
    server.reply([b"<html>bad gateway</html>"], status=502, content_type="text/html")
    with pytest.raises(ProviderUnavailable):
        ask(format, server.url)


@pytest.mark.parametrize("format", FORMATS)
def test_retry_after_reaches_the_caller(format: WireFormat, server: WireServer) -> None:
    server.reply(
        [_error_body(format, "rate_limit_error")],
        status=429,
        headers={"retry-after": "7"},
        content_type="application/json",
    )
    with pytest.raises(RateLimited) as raised:
        ask(format, server.url)
    assert raised.value.retry_after_seconds == 7


def test_retry_after_in_all_its_forms() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert retry_after_seconds({}) is None
    assert retry_after_seconds({"retry-after": "1.5"}) == 1.5
    assert retry_after_seconds({"retry-after": "-3"}) == 0
    assert retry_after_seconds({"retry-after": "soon"}) is None
    assert retry_after_seconds({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    wait = retry_after_seconds({"retry-after": later})
    assert wait is not None
    assert 80 < wait <= 90


@pytest.mark.parametrize(
    ("format", "event", "expected"),
    [
        (
            "anthropic",
            b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
            ProviderUnavailable,
        ),
        ("anthropic", b'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error"}}\n\n', RateLimited),
        ("chat", b'data: {"error":{"code":"server_error","message":"no"}}\n\n', ProviderUnavailable),
        (
            "responses",
            b'event: error\ndata: {"type":"error","code":"rate_limit_exceeded","message":"no"}\n\n',
            RateLimited,
        ),
        (
            "responses",
            b"event: response.failed\n"
            b'data: {"type":"response.failed","response":{"error":{"code":"server_error"}}}\n\n',
            ProviderUnavailable,
        ),
    ],
)
def test_errors_inside_a_stream(
    format: WireFormat, event: bytes, expected: type[ProviderError], server: WireServer
) -> None:
    server.reply([event])
    with pytest.raises(expected):
        ask(format, server.url)


@pytest.mark.parametrize("format", FORMATS)
def test_nobody_listens(format: WireFormat) -> None:
    with pytest.raises(ProviderUnavailable):
        ask(format, "http://127.0.0.1:9")


@pytest.mark.parametrize("format", FORMATS)
def test_a_silent_server_runs_into_the_timeout(format: WireFormat, server: WireServer) -> None:
    server.reply(_never())
    request = ChatRequest((Message(role="user", content="?"),), 10)
    with pytest.raises(ProviderUnavailable):
        list(adapter_for(format, server.url).stream_chat(model_for(format), request, 0.2))


def _never() -> Iterator[bytes]:
    threading.Event().wait(2)
    yield b""
