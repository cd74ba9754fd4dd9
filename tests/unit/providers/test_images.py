"""Pictures by OpenAI and Bedrock: what is asked, what the answers become, and their faults (AI-01, AG-11)."""

import base64
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Any

import pytest

from tests.bench.wire_server import WireServer
from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Model, ProviderName
from werkbank.ai.pricing import cost_chf, estimate_chf
from werkbank.ai.protocols import GeneratedImage, ImageRequest
from werkbank.domain.errors import (
    ModelNotFound,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
)
from werkbank.domain.messages import Usage
from werkbank.providers.catalog import Catalog, build_catalog

PNG = b"\x89PNG\r\n\x1a\n picture"
PICTURE = base64.b64encode(PNG).decode()
MODELS: dict[ProviderName, str] = {
    "openai": "openai/gpt-image-2.6-flare",
    "bedrock": "bedrock/stability.stable-image-core-v1:1",
}
PROVIDERS = sorted(MODELS)
ANSWERS = {
    "openai": {"created": 1, "data": [{"b64_json": PICTURE}]},
    "bedrock": {"seeds": [1], "finish_reasons": [None], "images": [PICTURE]},
}


@pytest.fixture
def catalog(server: WireServer) -> Catalog:
    keys = {"openaiApiKey": "o", "openaiBaseUrl": server.url, "bedrockRegion": "us-west-2"}
    aws = {"bedrockAccessKeyId": "id", "bedrockSecretAccessKey": "key", "bedrockBaseUrl": server.url}
    return build_catalog(ModelKeys.model_validate({**keys, **aws}))


def _model(catalog: Catalog, provider: ProviderName) -> Model:
    return next(model for model in catalog.models if model.id == MODELS[provider])


def _make(
    catalog: Catalog, provider: ProviderName, request: ImageRequest | None = None, seconds: float = 10
) -> GeneratedImage:
    wish = request or ImageRequest("Ein roter Apfel")
    return catalog.providers.image[provider].generate_image(_model(catalog, provider), wish, seconds)


def _answer(server: WireServer, body: dict[str, Any] | str, status: int = 200, **headers: str) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    server.reply([content.encode()], status=status, headers=headers, content_type="application/json")


def test_openai(server: WireServer, catalog: Catalog) -> None:
    details = {"image_tokens": 0, "text_tokens": 9}
    usage = {"input_tokens": 9, "input_tokens_details": details, "output_tokens": 1_767, "total_tokens": 1_776}
    _answer(server, {**ANSWERS["openai"], "usage": usage})
    made = _make(catalog, "openai", ImageRequest("Ein roter Apfel", "landscape"))
    assert (made.image.data, made.image.mime_type) == (PNG, "image/png")
    assert made.usage == Usage(input_tokens=9, output_tokens=1_767)
    assert server.paths[-1] == "/images/generations"
    assert json.loads(server.bodies[-1]) == {
        "model": "gpt-image-2.6-flare",
        "prompt": "Ein roter Apfel",
        "size": "1536x1024",
        "quality": "medium",
        "output_format": "png",
        "n": 1,
    }
    # 9 tokens at 5 USD a million and 1,767 at 30; 0.81 CHF the dollar.
    assert cost_chf(_model(catalog, "openai"), made.usage) == Decimal("0.042975")


def test_a_picture_without_usage_is_not_free(server: WireServer, catalog: Catalog) -> None:
    _answer(server, ANSWERS["openai"])
    model = _model(catalog, "openai")
    assert _make(catalog, "openai").usage.output_tokens == model.max_output_tokens


def test_bedrock(server: WireServer, catalog: Catalog) -> None:
    _answer(server, ANSWERS["bedrock"])
    made = _make(catalog, "bedrock", ImageRequest("Ein roter Apfel", "portrait"))
    assert (made.image.data, made.image.mime_type, made.units) == (PNG, "image/png", 1)
    # The model is called by its own id, not through an inference profile: it is in its region alone.
    assert server.paths[-1] == "/model/stability.stable-image-core-v1%3A1/invoke"
    assert json.loads(server.bodies[-1]) == {
        "prompt": "Ein roter Apfel",
        "aspect_ratio": "2:3",
        "output_format": "png",
    }
    assert "/us-west-2/bedrock/aws4_request" in server.request_headers[-1]["authorization"]
    # 0.04 USD a picture at 0.81 CHF the dollar.
    model = _model(catalog, "bedrock")
    assert cost_chf(model, made.usage, made.units) == estimate_chf(model, 0, 0) == Decimal("0.0324")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"finish_reasons": ["Filter reason: prompt"]}, RequestRejected),
        ({"finish_reasons": ["Filter reason: output image"], "images": [PICTURE]}, RequestRejected),
        ({"finish_reasons": ["Inference error"]}, ProviderUnavailable),
        ({"finish_reasons": [None], "images": []}, ProviderUnavailable),
        ({"finish_reasons": [None], "images": ["no base64!"]}, ProviderUnavailable),
    ],
)
def test_bedrock_says_in_the_answer_why_there_is_no_picture(
    body: dict[str, Any], expected: type[ProviderError], server: WireServer, catalog: Catalog
) -> None:
    _answer(server, body)
    with pytest.raises(ProviderError) as raised:
        _make(catalog, "bedrock")
    assert type(raised.value) is expected


@pytest.mark.parametrize("body", [{"created": 1, "data": []}, {"data": [{"b64_json": "no base64!"}]}, {"created": 1}])
def test_an_answer_of_openai_without_a_picture(body: dict[str, Any], server: WireServer, catalog: Catalog) -> None:
    _answer(server, body)
    with pytest.raises(ProviderUnavailable):
        _make(catalog, "openai")


OPENAI_FAULTS = [
    (400, "invalid_request_error", RequestRejected),
    (400, "moderation_blocked", RequestRejected),
    (401, "invalid_api_key", ProviderRefused),
    (403, "", ProviderRefused),
    (404, "model_not_found", ModelNotFound),
    (429, "rate_limit_exceeded", RateLimited),
    (429, "insufficient_quota", ProviderRefused),
    (429, "billing_hard_limit_reached", ProviderRefused),
    (500, "server_error", ProviderUnavailable),
    (503, "", ProviderUnavailable),
]
BEDROCK_FAULTS = [
    (400, "ValidationException", RequestRejected),
    (403, "AccessDeniedException", ProviderRefused),
    (404, "ResourceNotFoundException", ModelNotFound),
    (408, "ModelTimeoutException", ProviderUnavailable),
    (424, "ModelErrorException", ProviderUnavailable),
    (429, "ThrottlingException", RateLimited),
    (429, "ModelNotReadyException", RateLimited),
    (400, "ServiceQuotaExceededException", RateLimited),
    (500, "InternalServerException", ProviderUnavailable),
    (503, "ServiceUnavailableException", ProviderUnavailable),
]


@pytest.mark.parametrize(
    ("provider", "status", "code", "expected"),
    [("openai", *fault) for fault in OPENAI_FAULTS] + [("bedrock", *fault) for fault in BEDROCK_FAULTS],
)
def test_faults(
    provider: ProviderName,
    status: int,
    code: str,
    expected: type[ProviderError],
    server: WireServer,
    catalog: Catalog,
) -> None:
    error = {"code": code, "type": code, "message": "no"}
    _answer(server, {"__type": code, "message": "no"} if provider == "bedrock" else {"error": error}, status)
    before = len(server.bodies)
    with pytest.raises(ProviderError) as raised:
        _make(catalog, provider)
    assert type(raised.value) is expected
    assert len(server.bodies) == before + 1  # the SDKs' own retries are off


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_retry_after(provider: ProviderName, form: str, server: WireServer, catalog: Catalog) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    wait = "7" if form == "seconds" else date
    _answer(server, {"__type": "ThrottlingException", "message": "no"}, 429, **{"retry-after": wait})
    with pytest.raises(RateLimited) as raised:
        _make(catalog, provider)
    seconds = raised.value.retry_after_seconds
    assert seconds is not None
    assert seconds == 7 or 20 < seconds <= 30


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("begun", [False, True], ids=["at once", "in the middle"])
def test_a_silent_server_runs_into_the_timeout(
    provider: ProviderName, begun: bool, server: WireServer, catalog: Catalog
) -> None:
    def silence() -> Iterator[bytes]:
        yield json.dumps(ANSWERS[provider]).encode()[:20] if begun else b""
        threading.Event().wait(2)

    server.reply(silence(), content_type="application/json")
    with pytest.raises(ProviderUnavailable):
        _make(catalog, provider, seconds=0.2)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_drips_runs_into_the_timeout(
    provider: ProviderName, server: WireServer, catalog: Catalog
) -> None:
    def drops() -> Iterator[bytes]:
        for _ in range(40):
            yield b" "
            threading.Event().wait(0.05)

    server.reply(drops(), content_type="application/json")
    with pytest.raises(ProviderUnavailable):
        _make(catalog, provider, seconds=0.3)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_connection_that_breaks_off(provider: ProviderName, server: WireServer, catalog: Catalog) -> None:
    server.reply([json.dumps(ANSWERS[provider]).encode()[:20]], content_type="application/json", end="closed")
    with pytest.raises(ProviderError) as raised:
        _make(catalog, provider)
    assert type(raised.value).__base__.__name__ == "RetryableProviderError"  # type: ignore[union-attr]
