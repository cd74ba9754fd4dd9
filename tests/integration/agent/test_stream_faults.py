"""Every fault of a provider at every point of a recorded stream ends in a stored, valid conversation (AG-11, AG-12).

The streams come from a real server, through the real SDKs and adapters, into the real loop on a real database. A fault
strikes once, and the run must complete as if nothing had been, or it stays, and the run must end in words; either way
the conversation is valid, nothing stays reserved, and the next question is answered.
"""

import json
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.bench.contents import arguments_value
from tests.bench.recordings import Recording, event_frame, read_recording
from tests.bench.replay import model_for
from tests.bench.wire_server import End, Reply, WireServer, running
from tests.integration.agent.harness import Harness
from tests.integration.agent.test_run import assert_well_formed
from tests.integration.conftest import new_member
from tests.scripted_model import SCRIPTED
from tests.unit.agent.provider_rules import assert_valid
from werkbank.agent.history import conversation
from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatProvider, ChatRequest, Delta
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderError
from werkbank.domain.ids import new_id
from werkbank.domain.runs import RunRef
from werkbank.providers import mistral
from werkbank.providers.anthropic import AnthropicChat
from werkbank.providers.bedrock import BedrockChat
from werkbank.providers.bedrock_connection import AwsKeys, BedrockConnection
from werkbank.providers.openai import OpenAiChat, OpenAiResponses

WIRE: Final = Path(__file__).parents[4] / "shared" / "wire"
FIRST_CALL_SECONDS: Final = 3.0
BYTE_POSITIONS: Final = 7


@dataclass(frozen=True)
class Provider:
    """An adapter, what it reads (a stream with tool calls and one that answers), and how it reports faults."""

    name: str
    adapter: Callable[[str], ChatProvider]
    calling: str
    answering: str
    malformed: bytes
    error: Callable[[str], bytes]
    passing: str
    lasting: str


def sse(event: str, data: object) -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


PROVIDERS: Final = (
    Provider(
        "anthropic",
        lambda url: AnthropicChat("key", url),
        "anthropic/anthropic-json-tool.2",
        "anthropic/anthropic-text",
        sse("content_block_delta", '{"type": "content_block_delta", "index": '),
        lambda code: sse("error", {"type": "error", "error": {"type": code, "message": "no"}}),
        "overloaded_error",
        "authentication_error",
    ),
    Provider(
        "openai-chat",
        lambda url: OpenAiChat("key", url),
        "alibaba/alibaba-tool-call",
        "openai-chat/azure-model-router.1",
        sse("", '{"choices": [{"index": 0, "delta": {"content": '),
        lambda code: sse("", {"error": {"code": code, "type": code, "message": "no", "param": None}}),
        "server_error",
        "insufficient_quota",
    ),
    Provider(
        "openai-responses",
        lambda url: OpenAiResponses("key", url),
        "openai-responses/openai-client-tool-search.2",
        "openai-responses/openai-shell-local-multiturn.1",
        sse("response.output_text.delta", '{"type": "response.output_text.delta", "delta": '),
        lambda code: sse("error", {"type": "error", "code": code, "message": "no", "param": None}),
        "server_error",
        "insufficient_quota",
    ),
    Provider(
        "mistral",
        lambda url: OpenAiChat("key", url, "Mistral", mistral.build_parameters),
        "mistral/mistral-incremental-tool-call",
        "mistral/mistral-text",
        sse("", '{"choices": [{"index": 0, "delta": {"content": '),
        lambda code: sse("", {"object": "error", "message": "no", "type": code, "code": code}),
        "service_unavailable",
        "invalid_api_key",
    ),
    Provider(
        "bedrock",
        lambda url: BedrockChat(BedrockConnection("eu-central-1", AwsKeys("id", "key"), url)),
        "amazon-bedrock/amazon-bedrock-json-tool-text-then-weather-then-json.1",
        "amazon-bedrock/amazon-bedrock-text",
        event_frame("event", "contentBlockDelta", b'{"contentBlockIndex": 0, "delta": '),
        lambda code: event_frame("exception", code, b'{"message": "no"}'),
        "serviceUnavailableException",
        "validationException",
    ),
)

# What happens after so many events: the pieces that are still sent, and how the body ends.
Fault = Callable[[Provider, list[bytes], int], tuple[list[bytes], End]]
FAULTS: Final[dict[str, Fault]] = {
    "reset": lambda _, pieces, at: (pieces[:at], "reset"),
    "ended early": lambda _, pieces, at: (pieces[:at], "whole"),
    "malformed": lambda provider, pieces, at: ([*pieces[:at], provider.malformed, *pieces[at:]], "whole"),
    "passing error": lambda provider, pieces, at: ([*pieces[:at], provider.error(provider.passing)], "whole"),
    "lasting error": lambda provider, pieces, at: ([*pieces[:at], provider.error(provider.lasting)], "whole"),
    "duplicated": lambda _, pieces, at: ([*pieces[:at], *pieces[max(at - 1, 0) :]], "whole"),
}
ENDS: Final[tuple[End, ...]] = ("reset", "closed", "whole")
STATUSES: Final = (400, 401, 404, 413, 429, 500, 529)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WIRE.exists(), reason="the recordings (../shared/wire) are not here"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with running() as wire_server:
        yield wire_server


def recorded(path: str) -> Recording:
    return read_recording(WIRE / f"{path}.chunks.txt")


def reply_of(path: str, pieces: list[bytes] | None = None, end: End = "whole") -> Reply:
    """Return a recording as a reply, or other pieces in its place."""
    recording = recorded(path)
    return Reply(
        recording.wire() if pieces is None else pieces, headers={"content-type": recording.content_type}, end=end
    )


def streams() -> Iterator[tuple[Provider, str]]:
    """Yield every provider with each of its recordings."""
    if WIRE.exists():
        for provider in PROVIDERS:
            yield from ((provider, path) for path in (provider.calling, provider.answering))


@pytest.mark.parametrize(
    ("provider", "path", "fault", "at", "stays"),
    [
        # Every fault at every point, once at one and for good at the next, so that every point sees both.
        pytest.param(provider, path, fault, at, (at + number) % 2 == 0, id=f"{Path(path).name}-{fault}-{at}")
        for provider, path in streams()
        for number, fault in enumerate(FAULTS)
        for at in range(len(recorded(path).wire()) + 1)
    ],
)
def test_fault_between_events(
    database: Database, server: WireServer, provider: Provider, path: str, fault: str, at: int, stays: bool
) -> None:
    pieces, end = FAULTS[fault](provider, recorded(path).wire(), at)
    trial = Trial(database, server, provider)
    trial.meet(reply_of(path, pieces, end), stays)
    if fault != "duplicated":
        trial.assert_only_recorded_answers()
    if not stays and fault not in ("lasting error", "duplicated"):
        trial.assert_recovered()
    trial.ask_once_more()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("provider", "path"), [pytest.param(*one, id=Path(one[1]).name) for one in streams()])
def test_cut_within_an_event(database: Database, server: WireServer, provider: Provider, path: str, end: End) -> None:
    data = b"".join(recorded(path).wire())
    for position in range(1, BYTE_POSITIONS + 1):
        trial = Trial(database, server, provider)
        trial.meet(reply_of(path, [data[: len(data) * position // (BYTE_POSITIONS + 1)]], end), stays=False)
        trial.assert_recovered()
        trial.ask_once_more()


@pytest.mark.parametrize(("provider", "path"), [pytest.param(*one, id=Path(one[1]).name) for one in streams()])
def test_silence_after_any_event(database: Database, provider: Provider, path: str) -> None:
    # all at once, since each waits until the call's time is over
    def fall_silent(at: int) -> None:
        with running() as server:
            trial = Trial(database, server, provider, is_impatient=True)
            trial.meet(reply_of(path, recorded(path).wire()[:at], "silent"), stays=False)
            trial.assert_recovered()
            trial.ask_once_more()

    points = range(len(recorded(path).wire()) + 1)
    with ThreadPoolExecutor(len(points)) as threads:
        assert len(list(threads.map(fall_silent, points))) == len(points)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_refusal_before_the_stream(database: Database, server: WireServer, provider: Provider, status: int) -> None:
    trial = Trial(database, server, provider)
    trial.meet(Reply([b'{"message": "no"}'], status, {"content-type": "application/json"}), stays=False)
    assert trial.is_completed == (status in (429, 500, 529))
    trial.ask_once_more()


class Impatient:
    """A provider whose first call gets less time than its round has."""

    def __init__(self, provider: ChatProvider) -> None:
        self._provider = provider
        self._patience = [FIRST_CALL_SECONDS]

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Pass the call on."""
        seconds = self._patience.pop() if self._patience else timeout_seconds
        return self._provider.stream_chat(model, request, seconds)


class Trial:
    """A run that meets a fault, and a question after it."""

    def __init__(self, database: Database, server: WireServer, provider: Provider, is_impatient: bool = False) -> None:
        self._database = database
        self._server = server
        self._provider = provider
        self._member = new_member(database)
        self._workflow_id = new_id()
        model = model_for("chat").model_copy(update={"price": SCRIPTED.price, "ratings": SCRIPTED.ratings})
        adapter = provider.adapter(server.url)
        self._harness = Harness(database, [], model=model, provider=Impatient(adapter) if is_impatient else adapter)

    def meet(self, fault: Reply, stays: bool) -> None:
        """Let a run meet a fault, once or as long as it goes on, and end; what is left of it must be in order."""
        self._server.forget_replies()
        if stays:
            self._server.reply_lasting(fault)
        else:
            self._server.reply_once(fault)
            self._server.reply_once(reply_of(self._provider.calling))
            self._server.reply_lasting(reply_of(self._provider.answering))
        ref = self._harness.start(self._member, workflowId=self._workflow_id)
        try:
            self._harness.drive(ref)
        except ProviderError as error:
            self._harness.fail(ref, type(error).__name__)
        self._check(ref)

    @property
    def is_completed(self) -> bool:
        """Tell whether the run came to its answer."""
        # A fault after the end is none: the same calls come twice then, which the guard may take for a circle (AG-09).
        return self._events[-1].data.get("status") in ("completed", "stalled")

    def assert_recovered(self) -> None:
        """The run must have come to the recorded answer, as if there had been no fault."""
        assert self.is_completed
        self.assert_only_recorded_answers()
        if self._events[-1].data["status"] == "completed":
            assert self._answers[-1].content == recorded(self._provider.answering).content().text

    def assert_only_recorded_answers(self) -> None:
        """What was stored as whole must be what the provider said in whole: no beginning of it, no mixture."""
        recordings = [recorded(path).content() for path in (self._provider.calling, self._provider.answering)]
        whole = [(content.text, [(name, value) for _, name, value in content.calls]) for content in recordings]
        for answer in self._answers:
            calls = [(call.name, arguments_value(call.arguments)) for call in answer.tool_calls]
            assert answer.partial or (answer.content, calls) in whole or answer.round > self._rounds

    def ask_once_more(self) -> None:
        """The next question of the same conversation must be answered."""
        self._server.forget_replies()
        self._server.reply_lasting(reply_of(self._provider.answering))
        events = self._harness.events(self._harness.ask(self._member, "And now?", workflowId=self._workflow_id))
        assert events[-1].data["status"] == "completed"

    def _check(self, ref: RunRef) -> None:
        self._events = self._harness.events(ref)
        assert_well_formed(self._events)
        with self._database.session(self._member) as session:
            run = session.runs.get(ref.run_id)
            charges = session.ledger.charges(ref.run_id)
            messages = session.messages.of_workflow(self._workflow_id)
            calls = session.tool_calls.of_run(ref.run_id)
        self._rounds = run.rounds
        self._answers = [message for message in messages if message.role == "assistant"]
        assert_valid(conversation(messages, calls, run))
        assert {call.status for call in calls} <= {"succeeded", "failed"}
        assert run.reserved_chf == 0
        assert {charge.status for charge in charges} <= {"settled", "released"}
        for partial in (message for message in self._answers if message.partial):
            assert partial.content == self._shown_in(partial.round)

    def _shown_in(self, round: int) -> str:
        """Return what a page shows of a round: its latest attempt."""
        chunks = [event.data for event in self._events if event.type == "chunk" and event.data["round"] == round]
        return "".join(str(chunk["text"]) for chunk in chunks if chunk["attempt"] == chunks[-1]["attempt"])
