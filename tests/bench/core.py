"""What the loop does between calls, against fixed goals: history repair, model selection, stream assembly.

The fastest token rate is the highest that a recorded provider tells of itself (Groq: tokens and seconds of generation
in its usage). Assembly is measured with all that stands before it: a local server, HTTP, the SDK and the adapter.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.bench.measuring import Figure, Spread
from tests.bench.recordings import find_recordings, read_recording
from tests.bench.replay import ask
from tests.bench.wire_server import running
from werkbank.agent.history import repair
from werkbank.ai.model import Capability
from werkbank.ai.operations import Operation
from werkbank.ai.registry import listed_models
from werkbank.ai.selector import ModelWish, select_models
from werkbank.domain.messages import Message, ToolCall

_WIRE = Path(__file__).parents[3] / "shared" / "wire"
_STREAM = _WIRE / "groq" / "groq-text.chunks.txt"
_MESSAGES = 1_000
_TIMES = 200
_STREAMS = 20


def figures() -> Iterator[Figure]:
    """Measure; stream assembly only with the recordings at hand."""
    broken = _broken_history()
    repairing = Spread.of(_milliseconds(lambda: repair(broken), _TIMES))
    how = f"every fourth result lost, every fourth without its call, neighbours of one role; {_TIMES} times"
    yield Figure("Repair of a history of 1,000 messages", f"**{repairing} ms**", "< 10 ms", how)
    models, wish = listed_models(), ModelWish(Operation.AGENT, 20_000, 256, frozenset({Capability.TOOLS}))
    selecting = Spread.of([taken * 1_000 for taken in _milliseconds(lambda: select_models(models, wish), _TIMES)])
    how = f"all {len(models)} models of the registry; {_TIMES} times"
    yield Figure("Selection of a model", f"**{selecting} µs**", "< 1 ms", how)
    if _STREAM.exists():
        yield _assembly()


def _assembly() -> Figure:
    recording = read_recording(_STREAM)
    tokens = recording.content().output_tokens or 0
    fastest = max(_rates())
    with running() as server:
        server.reply(recording.wire(), content_type=recording.content_type)
        taken = _milliseconds(lambda: ask("chat", server.url), _STREAMS)
    ours = Spread.of([tokens * 1_000 / milliseconds for milliseconds in taken])
    measured = f"**{ours.median / fastest:.0f}×**: {ours} : {fastest:.1f} tokens/s"
    how = f"{recording.name}, {tokens} tokens, from the socket to the answer; Groq's own figure; {_STREAMS} times"
    return Figure("Stream assembly : fastest recorded token rate", measured, "≥ 5×", how)


def _rates() -> Iterator[float]:
    """Yield the tokens a second that recorded providers say they wrote."""
    for recording in find_recordings(_WIRE):
        for event in recording.events:
            usage: dict[str, Any] = event.get("usage") or {}
            if usage.get("completion_time"):
                yield usage["completion_tokens"] / usage["completion_time"]


def _milliseconds(work: Callable[[], object], times: int) -> list[float]:
    work()
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begun) * 1_000)
    return taken


def _broken_history() -> list[Message]:
    """Return 1,000 messages with all that repair mends."""
    told: list[Message] = []
    for number in range(_MESSAGES // 4):
        call = ToolCall(id=f"c{number}", name="searchFiles", arguments=json.dumps({"query": f"rent {number}"}))
        result = f"x{number}" if number % 4 == 1 else call.id
        told += [
            Message(role="user", content=f"Question {number}, as long as questions are."),
            Message(role="assistant", content="I will look.", tool_calls=(call,)),
            Message(role="user", content="Well?")
            if number % 4 == 0
            else Message(role="tool", tool_call_id=result, content="A line of what was found. " * 20),
            Message(role="assistant", content=f"Answer {number}."),
        ]
    return told
