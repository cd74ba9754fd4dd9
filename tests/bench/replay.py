"""Replays recorded provider streams through a real local server into the real SDKs and our adapters.

`python -m tests.bench.replay DIR`: a line per `*.chunks.txt` below DIR, `ok` or `FAIL` and the reason; last `N of M`.
What the adapter assembles must equal what the recording itself says, and the whole response recorded beside it.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.bench.contents import Content, WireFormat, arguments_value
from tests.bench.recordings import Recording, find_recordings
from tests.bench.wire_server import WireServer, running
from werkbank.ai.assembly import assemble
from werkbank.ai.model import Capability, Model, ProviderName
from werkbank.ai.protocols import AssembledAnswer, ChatProvider, ChatRequest
from werkbank.domain.errors import ProviderError
from werkbank.domain.messages import Message
from werkbank.providers.anthropic import AnthropicChat
from werkbank.providers.bedrock import BedrockChat
from werkbank.providers.bedrock_connection import AwsKeys, BedrockConnection
from werkbank.providers.openai import OpenAiChat, OpenAiResponses

_TIMEOUT_SECONDS = 30.0
_REQUEST = ChatRequest(messages=(Message(role="user", content="Go on."),), max_output_tokens=1024)
_PROVIDERS: dict[WireFormat, ProviderName] = {
    "anthropic": "anthropic",
    "chat": "private",
    "responses": "openai",
    "bedrock": "bedrock",
}


@cache
def adapter_for(format: WireFormat, url: str) -> ChatProvider:
    """Return the adapter of a format, pointed at a server."""
    match format:
        case "anthropic":
            return AnthropicChat("key", url)
        case "responses":
            return OpenAiResponses("key", url)
        case "bedrock":
            return BedrockChat(BedrockConnection("eu-central-1", AwsKeys("id", "key"), url))
        case _:
            return OpenAiChat("key", url)


def model_for(format: WireFormat) -> Model:
    """Return a model that the adapter of a format serves."""
    return Model(
        id="recorded",
        provider=_PROVIDERS[format],
        name="recorded",
        label="Recorded",
        capabilities=frozenset({Capability.TOOLS, Capability.STREAMING}),
        context_window=1_000_000,
        max_output_tokens=100_000,
    )


def replay(recording: Recording, server: WireServer) -> tuple[bool, str]:
    """Replay one recording; tell whether all agreed, and the reason or what there is to know."""
    if recording.format is None:
        return False, "no adapter knows this format"
    server.reply(recording.wire(), content_type=recording.content_type)
    expected = recording.content()
    try:
        answer = ask(recording.format, server.url)
    except ProviderError as error:
        return _judge_fault(recording, expected, error)
    difference = first_difference(expected, answer)
    if difference:
        return False, difference
    whole = recording.whole_response()
    difference = first_difference(whole, answer) if whole else None
    if difference:
        return False, f"whole response: {difference}"
    return True, "as the whole response beside it" if whole else expected.note


def replay_or_tell(recording: Recording, server: WireServer) -> tuple[bool, str]:
    """Replay one recording; what nobody expected of it is its failure alone, not the end of the report."""
    try:
        return replay(recording, server)
    except Exception as error:
        return False, f"surprised by it: {error!r:.200}"


def ask(
    format: WireFormat, url: str, around: Callable[[ChatProvider], ChatProvider] = lambda provider: provider
) -> AssembledAnswer:
    """Make one call, through what is put `around` the adapter, and assemble it."""
    adapter = around(adapter_for(format, url))
    return assemble(adapter.stream_chat(model_for(format), _REQUEST, _TIMEOUT_SECONDS))


def first_difference(expected: Content, answer: AssembledAnswer) -> str | None:
    """Say where an answer first differs from what is expected of it."""
    if expected.fault is not None:
        return f"should raise {expected.fault}"
    calls = [(call.id, call.name, arguments_value(call.arguments)) for call in answer.message.tool_calls]
    if not all(call_id for call_id, *_ in expected.calls):
        # Calls without ids get some of ours.
        calls = [("", name, arguments) for _, name, arguments in calls]
    usage = answer.usage
    pairs: list[tuple[str, object, object]] = [
        ("text", expected.text, answer.message.content),
        ("tool calls", expected.calls, calls),
        ("input tokens", expected.input_tokens, usage.input_tokens),
        ("output tokens", expected.output_tokens, usage.output_tokens),
        ("cached tokens", expected.cached_tokens, usage.cached_input_tokens),
        ("stop reason", expected.stop, answer.stop_reason),
    ]
    for name, wanted, got in pairs:
        if wanted is not None and wanted != got:
            return f"{name}: expected {wanted!r:.80}, got {got!r:.80}"
    return None


def _judge_fault(recording: Recording, expected: Content, error: ProviderError) -> tuple[bool, str]:
    raised = type(error).__name__
    if expected.fault != raised:
        return False, f"raised {raised}: {error}"
    reason = "an event is no JSON" if recording.is_broken else "the provider reports a fault"
    return True, f"{reason}, raised as {raised}"


def main(folder: Path) -> None:
    """Replay a folder and print the report: a line per recording, `N of M` last."""
    recordings = find_recordings(folder)
    passed = 0
    with running() as server:
        for recording in recordings:
            is_ok, reason = replay_or_tell(recording, server)
            passed += is_ok
            print(f"{'ok' if is_ok else 'FAIL'} {recording.path.relative_to(folder)} {reason}".rstrip())
    print(f"whole responses (*.json) lying there, used where a stream has one: {len(list(folder.rglob('*.json')))}")
    print(f"{passed} of {len(recordings)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.bench.replay DIR")
    main(Path(sys.argv[1]))
