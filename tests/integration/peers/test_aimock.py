"""The adapters against aimock, a foreign server that speaks our providers' APIs and breaks them (AI-01, AI-06, AG-11).

The npm package @copilotkit/aimock (`tests/peers`) speaks the Messages, Responses and Chat Completions APIs, Bedrock's
ConverseStream in its binary frames, and OpenAI's embeddings, pictures, speech and transcription.
"""

import base64
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.local.node import find_node
from tests.bench.replay import model_for
from tests.embeddings import joined
from werkbank.ai.assembly import assemble
from werkbank.ai.model import Model
from werkbank.ai.protocols import AssembledAnswer, ChatProvider, ChatRequest, ImageRequest, SpeechRequest
from werkbank.ai.registry import listed_models
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
from werkbank.domain.media import Audio, Image
from werkbank.domain.messages import Message, ToolDefinition, Usage
from werkbank.providers.anthropic import AnthropicChat
from werkbank.providers.bedrock import BedrockChat
from werkbank.providers.bedrock_connection import AwsKeys, BedrockConnection
from werkbank.providers.openai import OpenAiChat, OpenAiEmbeddings, OpenAiResponses
from werkbank.providers.openai_audio import OpenAiSpeech, OpenAiTranscription
from werkbank.providers.openai_images import OpenAiImages

AIMOCK = Path(__file__).parents[2] / "peers" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
pytestmark = pytest.mark.skipif(not AIMOCK.is_file(), reason="aimock is not installed: make test installs it")

TOOL = ToolDefinition(
    name="searchFiles",
    description="Searches the files.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
QUESTION = Message(role="user", content="Was ist ein metrischer Raum?")
REQUEST = ChatRequest((QUESTION,), 500)
ADAPTERS: dict[str, tuple[Callable[[str], ChatProvider], Model]] = {
    "anthropic": (lambda url: AnthropicChat("key", url), model_for("anthropic")),
    "responses": (lambda url: OpenAiResponses("key", f"{url}/v1"), model_for("responses")),
    "chat": (lambda url: OpenAiChat("key", f"{url}/v1"), model_for("chat")),
    "bedrock": (
        lambda url: BedrockChat(BedrockConnection("eu-central-1", AwsKeys("id", "key"), url)),
        model_for("bedrock"),
    ),
}
MODELS = {model.id: model for model in listed_models()}
PNG = b"\x89PNG\r\n\x1a\n picture"
Ask = Callable[..., AssembledAnswer]


class Peer:
    """A running aimock, told over its control endpoints what to answer."""

    def __init__(self, url: str) -> None:
        self.url = url

    def reply(self, response: dict[str, Any], match: dict[str, Any] | None = None, **options: Any) -> None:
        """Answer what matches from now on."""
        self._post("fixtures", {"fixtures": [{"match": match or {}, "response": response, **options}]})

    def fail_once(self, status: int, code: str) -> None:
        """Answer the next request with an HTTP error."""
        self._post("error", {"status": status, "body": {"message": "no", "type": code, "code": code}})

    def misbehave(self, **rates: float) -> None:
        """Break answers at random; a rate of 1 breaks every one."""
        self._post("chaos", rates)

    def reset(self) -> None:
        """Forget everything."""
        httpx.delete(f"{self.url}/__aimock/chaos").raise_for_status()
        self._post("reset", {})

    @property
    def journal(self) -> list[dict[str, Any]]:
        """What was asked so far."""
        entries: list[dict[str, Any]] = httpx.get(f"{self.url}/__aimock/journal").raise_for_status().json()
        return entries

    def _post(self, endpoint: str, body: dict[str, Any]) -> None:
        httpx.post(f"{self.url}/__aimock/{endpoint}", json=body).raise_for_status()


@pytest.fixture(scope="module")
def running_aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    fixtures = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    fixtures.write_text('{"fixtures": []}')
    command = [str(find_node()), str(AIMOCK), "-p", "0", "-f", str(fixtures), "--chunk-size", "7"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(line.split()[-1] for line in process.stdout if "listening on" in line)
        finally:
            process.terminate()


@pytest.fixture
def aimock(running_aimock: str) -> Iterator[Peer]:
    peer = Peer(running_aimock)
    yield peer
    peer.reset()


@pytest.fixture(params=sorted(ADAPTERS))
def ask(request: pytest.FixtureRequest, aimock: Peer) -> Ask:
    """Return a function that makes one call with one of the adapters."""
    build, model = ADAPTERS[request.param]
    adapter = build(aimock.url)

    def call(request: ChatRequest = REQUEST, timeout_seconds: float = 10) -> AssembledAnswer:
        return assemble(adapter.stream_chat(model, request, timeout_seconds))

    return call


def test_whole_answers(ask: Ask, aimock: Peer) -> None:
    aimock.reply({"content": "Eine Menge mit einer “Metrik”. " * 5})
    answer = ask()
    assert (answer.message.content, answer.stop_reason) == ("Eine Menge mit einer “Metrik”. " * 5, "stop")


@pytest.mark.parametrize("name", ["anthropic", "chat", "responses"])  # for Bedrock it always tells zero
def test_usage(name: str, aimock: Peer) -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}
    aimock.reply({"content": "Eine Menge.", "usage": usage, "finishReason": "length"})
    build, model = ADAPTERS[name]
    answer = assemble(build(aimock.url).stream_chat(model, REQUEST, 10))
    assert (answer.usage, answer.stop_reason) == (Usage(input_tokens=20, output_tokens=7), "length")


def test_several_calls_in_fragments_and_their_results(ask: Ask, aimock: Peer) -> None:
    calls = [{"name": "searchFiles", "arguments": {"query": f"metrischer Raum {number}"}} for number in (1, 2)]
    aimock.reply({"toolCalls": calls}, {"hasToolResult": False})
    aimock.reply({"content": "Nichts."}, {"hasToolResult": True})
    answer = ask(ChatRequest((QUESTION,), 500, (TOOL,)))
    assert answer.stop_reason == "tool_calls"
    assert [call.name for call in answer.message.tool_calls] == ["searchFiles"] * 2
    assert '"metrischer Raum 2"' in answer.message.tool_calls[1].arguments
    results = [Message(role="tool", tool_call_id=call.id, content="Nothing.") for call in answer.message.tool_calls]
    final = ask(ChatRequest((QUESTION, answer.message, *results), 500, (TOOL,)))
    assert (final.message.content, final.stop_reason) == ("Nichts.", "stop")


def test_pictures_are_taken_beside_the_text(ask: Ask, aimock: Peer) -> None:
    aimock.reply({"content": "Ein Apfel."}, {"userMessage": "metrischer"})
    picture = QUESTION.model_copy(update={"images": (Image(data=PNG, mime_type="image/png"),)})
    assert ask(ChatRequest((picture,), 500)).message.content == "Ein Apfel."


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, RequestRejected),
        (401, ProviderRefused),
        (403, ProviderRefused),
        (404, ModelNotFound),
        (429, RateLimited),
        (500, ProviderUnavailable),
        (503, ProviderUnavailable),
    ],
)
def test_http_errors(status: int, expected: type[ProviderError], ask: Ask, aimock: Peer) -> None:
    aimock.fail_once(status, "")
    with pytest.raises(ProviderError) as raised:
        ask()
    assert type(raised.value) is expected
    assert len(aimock.journal) == 1


def test_the_wait_it_asks_for(ask: Ask, aimock: Peer) -> None:
    aimock.reply({"content": "Later."})
    aimock.misbehave(rateLimitRate=1)
    with pytest.raises(RateLimited) as raised:
        ask()
    assert raised.value.retry_after_seconds is not None


@pytest.mark.parametrize("after", [1, 2, 5])
def test_cut_streams_are_failed_calls(after: int, ask: Ask, aimock: Peer) -> None:
    # Of some formats it cuts the connection before any of it was sent.
    aimock.reply({"content": "Eine Menge mit einer Metrik. " * 5}, truncateAfterChunks=after)
    with pytest.raises((IncompleteStream, ProviderUnavailable)):
        ask()


@pytest.mark.parametrize("chaos", ["dropRate", "malformedRate", "disconnectRate"])
def test_chaos_can_be_tried_again(chaos: str, ask: Ask, aimock: Peer) -> None:
    aimock.reply({"content": "Well."})
    aimock.misbehave(**{chaos: 1})
    with pytest.raises(RetryableProviderError):
        ask()
    aimock.misbehave(**{chaos: 0})
    assert ask().message.content == "Well."


def test_a_silent_server_runs_into_the_timeout(ask: Ask, aimock: Peer) -> None:
    aimock.reply({"content": "Later."}, streamingProfile={"ttft": 3_000})
    with pytest.raises(ProviderUnavailable):
        ask(timeout_seconds=0.3)


def test_embeddings(aimock: Peer) -> None:
    aimock.reply({"embedding": [0.5] * 1536}, {"inputText": "Raum"})
    model = MODELS["openai/text-embedding-3-small"]
    embeddings = joined(OpenAiEmbeddings("key", f"{aimock.url}/v1").embed(model, ["Ein Raum", "Ein zweiter Raum"], 10))
    assert embeddings.vectors == [[0.5] * 1536] * 2


def _make_picture(aimock: Peer) -> bytes:
    images = OpenAiImages("key", f"{aimock.url}/v1")
    return images.generate_image(MODELS["openai/gpt-image-2.6-flare"], ImageRequest("Ein Apfel"), 10).image.data


def _speak(aimock: Peer) -> bytes:
    voice = OpenAiSpeech("key", f"{aimock.url}/v1")
    return voice.speak(MODELS["openai/gpt-4o-mini-tts"], SpeechRequest("Grüezi", "de"), 10).audio.data


def _transcribe(aimock: Peer) -> str:
    ears = OpenAiTranscription("key", f"{aimock.url}/v1")
    return ears.transcribe(MODELS["openai/gpt-transcribe"], Audio(data=b"sound", mime_type="audio/wav"), 10).text


WORKS: dict[str, tuple[Callable[[Peer], object], dict[str, Any], object]] = {
    "image": (_make_picture, {"image": {"b64Json": base64.b64encode(PNG).decode()}}, PNG),
    "speech": (_speak, {"audio": base64.b64encode(b"sound").decode()}, b"sound"),
    "transcription": (_transcribe, {"transcription": {"text": "Grüezi mitenand"}}, "Grüezi mitenand"),
}


@pytest.mark.parametrize("endpoint", WORKS)
def test_pictures_and_speech(endpoint: str, aimock: Peer) -> None:
    work, response, expected = WORKS[endpoint]
    aimock.reply(response, {"endpoint": endpoint})
    assert work(aimock) == expected


@pytest.mark.parametrize("endpoint", WORKS)
@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "moderation_blocked", RequestRejected),
        (429, "rate_limit_exceeded", RateLimited),
        (429, "insufficient_quota", ProviderRefused),
        (503, "", ProviderUnavailable),
    ],
)
def test_faults_of_pictures_and_speech(
    status: int, code: str, expected: type[ProviderError], endpoint: str, aimock: Peer
) -> None:
    error = {"message": "no", "type": code, "code": code}
    aimock.reply({"error": error, "status": status}, {"endpoint": endpoint})
    with pytest.raises(ProviderError) as raised:
        WORKS[endpoint][0](aimock)
    assert type(raised.value) is expected
