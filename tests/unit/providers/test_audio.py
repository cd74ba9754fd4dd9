"""Speech by OpenAI and Mistral: what is asked, what the answers become, and their faults (AI-01, AG-11)."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.bench.wire_server import WireServer
from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Model, ProviderName
from werkbank.ai.pricing import cost_chf, estimate_chf
from werkbank.ai.protocols import Speech, SpeechRequest, Transcript
from werkbank.ai.tokens import estimate_seconds
from werkbank.domain.errors import (
    IncompleteStream,
    ModelNotFound,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    RetryableProviderError,
)
from werkbank.domain.media import Audio
from werkbank.domain.messages import Usage
from werkbank.providers.catalog import Catalog, build_catalog

SOUND = bytes(range(256))
RECORDING = Audio(data=SOUND * 8, mime_type="audio/webm")
HELLO = SpeechRequest("Grüezi mitenand", "de")
MODELS: dict[tuple[str, str], str] = {
    ("openai", "speak"): "openai/gpt-4o-mini-tts",
    ("mistral", "speak"): "mistral/voxtral-mini-tts-3-0",
    ("openai", "transcribe"): "openai/gpt-transcribe",
    ("mistral", "transcribe"): "mistral/voxtral-small-transcribe-3",
}
PROVIDERS: list[ProviderName] = ["openai", "mistral"]


@pytest.fixture
def catalog(server: WireServer) -> Catalog:
    urls = {"openaiBaseUrl": server.url, "mistralBaseUrl": server.url}
    return build_catalog(ModelKeys.model_validate({"openaiApiKey": "o", "mistralApiKey": "m", **urls}))


def _model(catalog: Catalog, provider: str, work: str) -> Model:
    return next(model for model in catalog.models if model.id == MODELS[provider, work])


def _speak(catalog: Catalog, provider: ProviderName, request: SpeechRequest = HELLO, seconds: float = 10) -> Speech:
    return catalog.providers.speech[provider].speak(_model(catalog, provider, "speak"), request, seconds)


def _transcribe(catalog: Catalog, provider: ProviderName, audio: Audio = RECORDING, seconds: float = 10) -> Transcript:
    model = _model(catalog, provider, "transcribe")
    return catalog.providers.transcription[provider].transcribe(model, audio, seconds)


Work = Callable[..., object]
WORKS: list[Work] = [_speak, _transcribe]


def _answer(server: WireServer, body: dict[str, Any] | str, status: int = 200, **headers: str) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    server.reply([content.encode()], status=status, headers=headers, content_type="application/json")


def _sse(*events: dict[str, Any]) -> list[bytes]:
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events]


def _delta(sound: bytes) -> dict[str, Any]:
    return {"type": "speech.audio.delta", "audio": base64.b64encode(sound).decode()}


DONE = {"type": "speech.audio.done", "usage": {"input_tokens": 5, "output_tokens": 40, "total_tokens": 45}}


def test_openai_speaks(server: WireServer, catalog: Catalog) -> None:
    server.reply(_sse(_delta(SOUND[:100]), _delta(SOUND[100:]), DONE))
    speech = _speak(catalog, "openai")
    assert speech.audio == Audio(data=SOUND, mime_type="audio/mpeg")
    assert (speech.units, speech.usage) == (15, Usage(input_tokens=5, output_tokens=40))
    assert server.paths[-1] == "/audio/speech"
    assert json.loads(server.bodies[-1]) == {
        "model": "gpt-4o-mini-tts",
        "input": "Grüezi mitenand",
        "voice": "marin",
        "response_format": "mp3",
        "stream_format": "sse",
    }
    # 5 tokens at 0.60 USD a million and 40 at 12; 0.81 CHF the dollar.
    assert cost_chf(_model(catalog, "openai", "speak"), speech.usage, speech.units) == Decimal("0.000391")


def test_speech_in_any_split(server: WireServer, catalog: Catalog) -> None:
    whole = b"".join(_sse(_delta(SOUND), DONE)) + b"data: [DONE]\n\n"
    for at in range(0, len(whole), 7):
        server.reply([whole[:at], whole[at:]])
        assert _speak(catalog, "openai").audio.data == SOUND


def test_speech_without_usage_is_not_free(server: WireServer, catalog: Catalog) -> None:
    server.reply(_sse(_delta(SOUND), {"type": "speech.audio.done"}))
    assert _speak(catalog, "openai").usage.output_tokens == 90


def test_a_server_that_knows_no_events_sends_the_sound_itself(server: WireServer, catalog: Catalog) -> None:
    server.reply([SOUND[:100], SOUND[100:]], content_type="audio/mpeg")
    speech = _speak(catalog, "openai")
    assert (speech.audio.data, speech.usage.output_tokens) == (SOUND, 90)


@pytest.mark.parametrize("events", [[], [_delta(SOUND)], [DONE]], ids=["nothing", "no end", "no sound"])
def test_speech_that_is_cut_off_is_a_failed_call(
    events: list[dict[str, Any]], server: WireServer, catalog: Catalog
) -> None:
    server.reply(_sse(*events))
    with pytest.raises(IncompleteStream):
        _speak(catalog, "openai")


def test_a_damaged_event_is_a_failed_call(server: WireServer, catalog: Catalog) -> None:
    server.reply([*_sse(_delta(SOUND)), b'data: {"type":"speech.aud\n\n'])
    with pytest.raises(IncompleteStream):
        _speak(catalog, "openai")


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "no"}}, RateLimited),
        ({"type": "error", "error": {"type": "server_error"}}, ProviderUnavailable),
        ({"error": {"code": "insufficient_quota"}}, ProviderRefused),
    ],
)
def test_a_fault_inside_the_stream(
    event: dict[str, Any], expected: type[ProviderError], server: WireServer, catalog: Catalog
) -> None:
    server.reply(_sse(_delta(SOUND), event))
    with pytest.raises(ProviderError) as raised:
        _speak(catalog, "openai")
    assert type(raised.value) is expected


@pytest.mark.parametrize(("language", "voice"), [("de", "voice_481"), ("fr", "voice_592"), ("nl", "voice_478")])
def test_mistral_speaks(language: str, voice: str, server: WireServer, catalog: Catalog) -> None:
    _answer(server, {"audio_data": base64.b64encode(SOUND).decode()})
    speech = _speak(catalog, "mistral", SpeechRequest("Grüezi mitenand", language))
    assert speech == Speech(Audio(data=SOUND, mime_type="audio/mpeg"), 15)
    assert server.paths[-1] == "/audio/speech"
    assert json.loads(server.bodies[-1]) == {
        "model": "voxtral-mini-tts-3-0",
        "input": "Grüezi mitenand",
        "response_format": "mp3",
        "voice_id": voice,
    }
    # 15 characters at 13 USD a million; 0.81 CHF the dollar.
    model = _model(catalog, "mistral", "speak")
    assert cost_chf(model, speech.usage, speech.units) == estimate_chf(model, 0, 0, 15) == Decimal("0.000158")


@pytest.mark.parametrize("body", [{}, {"audio_data": ""}, {"audio_data": "no base64!"}, "no json"])
def test_an_answer_of_mistral_without_sound(body: dict[str, Any] | str, server: WireServer, catalog: Catalog) -> None:
    _answer(server, body)
    with pytest.raises(RetryableProviderError):
        _speak(catalog, "mistral")


@pytest.mark.parametrize(
    ("provider", "body", "expected"),
    [
        (
            "openai",
            {"text": "Grüezi", "languages": [{"code": "de"}], "usage": {"type": "duration", "seconds": 2.2}},
            Transcript("Grüezi", 3, "de"),
        ),
        ("openai", {"text": "", "languages": [], "usage": {"type": "duration", "seconds": 0}}, Transcript("", 0)),
        (
            "mistral",
            {
                "model": "voxtral-small-transcribe-3",
                "text": "Grüezi",
                "language": "de",
                "segments": [],
                "usage": {"prompt_audio_seconds": 3, "prompt_tokens": 4, "total_tokens": 50, "completion_tokens": 6},
            },
            Transcript("Grüezi", 3, "de"),
        ),
        ("mistral", {"text": "Grüezi", "language": None, "usage": None}, Transcript("Grüezi", 3)),
    ],
)
def test_transcripts(
    provider: ProviderName, body: dict[str, Any], expected: Transcript, server: WireServer, catalog: Catalog
) -> None:
    _answer(server, body)
    assert _transcribe(catalog, provider) == expected
    assert server.paths[-1] == "/audio/transcriptions"
    sent = server.bodies[-1]
    assert RECORDING.data in sent
    assert b'filename="sound.webm"' in sent
    assert _model(catalog, provider, "transcribe").name.encode() in sent
    assert sent.count(b"form-data") == 2  # the file and the model: Mistral refuses fields it does not know


def test_sound_of_an_unknown_type_is_not_sent(server: WireServer, catalog: Catalog) -> None:
    before = len(server.bodies)
    with pytest.raises(RequestRejected, match="audio/x-odd"):
        _transcribe(catalog, "openai", Audio(data=SOUND, mime_type="audio/x-odd"))
    assert len(server.bodies) == before


def test_seconds_are_never_estimated_too_low() -> None:
    """A minute of Opus at 6 kbit/s, and of telephone sound."""
    assert estimate_seconds(Audio(data=bytes(60 * 750), mime_type="audio/ogg")) == 60
    assert estimate_seconds(Audio(data=bytes(60 * 8_000 + 44), mime_type="audio/wav")) == 61


FAULTS = [
    (400, "invalid_request_error", RequestRejected),
    (401, "invalid_api_key", ProviderRefused),
    (404, "model_not_found", ModelNotFound),
    (413, "", ProviderError),
    (422, "", RequestRejected),
    (429, "rate_limit_exceeded", RateLimited),
    (429, "insufficient_quota", ProviderRefused),
    (500, "", ProviderUnavailable),
    (503, "", ProviderUnavailable),
]


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("status", "code", "expected"), FAULTS)
def test_faults(
    status: int,
    code: str,
    expected: type[ProviderError],
    provider: ProviderName,
    work: Work,
    server: WireServer,
    catalog: Catalog,
) -> None:
    told = {"code": code, "type": code, "message": "no"}
    _answer(server, {"object": "error", **told} if provider == "mistral" else {"error": told}, status)
    before = len(server.bodies)
    with pytest.raises(expected):
        work(catalog, provider)
    assert len(server.bodies) == before + 1  # the SDK's own retries are off


def test_what_may_not_be_said_is_no_matter_of_the_key(server: WireServer, catalog: Catalog) -> None:
    _answer(server, {"object": "error", "message": "The text was blocked by content moderation."}, 403)
    with pytest.raises(RequestRejected):
        _speak(catalog, "mistral")


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_retry_after(provider: ProviderName, work: Work, server: WireServer, catalog: Catalog) -> None:
    _answer(server, {}, 429, **{"retry-after": "3"})
    with pytest.raises(RateLimited) as raised:
        work(catalog, provider)
    assert raised.value.retry_after_seconds == 3


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("beginning", [b"", b'{"text":'], ids=["at once", "in the middle"])
def test_a_silent_server_runs_into_the_timeout(
    beginning: bytes, provider: ProviderName, work: Work, server: WireServer, catalog: Catalog
) -> None:
    def silence() -> Iterator[bytes]:
        yield beginning
        threading.Event().wait(2)

    server.reply(silence(), content_type="application/json")
    with pytest.raises(ProviderUnavailable):
        work(catalog, provider, seconds=0.2)
