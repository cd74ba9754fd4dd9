"""A model that says what a test tells it to, through the same protocol as the real ones.

    model = ScriptedModel([[ToolCall(id="1", name="listFiles", arguments="{}")], ["You have ", "two files."]])

Each answer is a sequence of pieces: text, tool calls, an `Event` to wait for, a fault that ends the stream there, or a
reason why it ends.
"""

import threading
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field

from werkbank.ai.model import Capability, Model
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import ChatRequest, Delta, StopReason, StreamEnd, TextDelta, ToolCallDelta
from werkbank.ai.registry import listed_models
from werkbank.domain.messages import ToolCall, Usage


@dataclass(frozen=True)
class Stop:
    """Ends an answer for another reason than that all is said."""

    reason: StopReason


Piece = str | ToolCall | threading.Event | Exception | Stop
_LONGEST_WAIT_SECONDS = 30.0

# Priced like a real model, so that money is counted in tests too.
SCRIPTED = Model(
    id="private/scripted",
    provider="private",
    name="scripted",
    label="Scripted",
    capabilities=frozenset({Capability.TOOLS, Capability.STREAMING, Capability.TEMPERATURE}),
    context_window=100_000,
    max_output_tokens=4_096,
    price=listed_models()[0].price,
    ratings={operation: 10 for operation in Operation if operation is not Operation.EMBEDDING},
)


@dataclass
class ScriptedModel:
    """A `ChatProvider` that gives the answers in order; one request too many fails the test. `requests` records all.

    `closed` counts the streams that were given up before their end.
    """

    answers: Iterable[Sequence[Piece]]
    usage: Usage = field(default_factory=lambda: Usage(input_tokens=100, output_tokens=20))
    requests: list[ChatRequest] = field(default_factory=list)
    closed: int = 0

    def __post_init__(self) -> None:
        self._rest = iter(self.answers)
        self._lock = threading.Lock()

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the next answer's pieces as deltas, then the end."""
        with self._lock:
            self.requests.append(request)
            answer = next(self._rest, None)
        assert answer is not None, "the script has no answer left"
        try:
            yield from self._deltas(answer)
        except GeneratorExit:
            self.closed += 1
            raise

    def _deltas(self, answer: Sequence[Piece]) -> Generator[Delta, None, None]:
        calls, reason = 0, None
        for piece in answer:
            match piece:
                case str():
                    yield TextDelta(piece)
                case ToolCall():
                    yield ToolCallDelta(calls, piece.id, piece.name, piece.arguments)
                    calls += 1
                case threading.Event():
                    assert piece.wait(_LONGEST_WAIT_SECONDS), "nobody released the answer"
                case Exception():
                    raise piece
                case Stop():
                    reason = piece.reason
        yield StreamEnd(self.usage, reason or ("tool_calls" if calls else "stop"))
