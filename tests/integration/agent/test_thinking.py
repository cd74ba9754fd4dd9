"""What a model thought goes back in the next round, and the run goes on where it cannot (AI-06, AG-11, AG-14)."""

import json
from collections.abc import Iterator

import pytest

from tests.bench.wire_server import Reply, WireServer, running
from tests.integration.agent.harness import Harness
from tests.unit.providers.test_thinking import thoughts_in
from werkbank.database.connection import Database
from werkbank.domain.principal import Principal
from werkbank.providers.anthropic import AnthropicChat


@pytest.fixture
def server() -> Iterator[WireServer]:
    with running() as wire_server:
        yield wire_server


def message(n: int, *content: dict[str, object]) -> Reply:
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": {"id": f"m{n}", "content": content, "usage": {"input_tokens": 1}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    pieces = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    return Reply(pieces, headers={"content-type": "text/event-stream"})


def look(n: int) -> Reply:
    """An answer that thinks, then makes a call unlike the others."""
    arguments = {"search": chr(97 + n) * 9}
    return message(
        n,
        {"type": "thinking", "thinking": "", "signature": f"sig{n}"},
        {"type": "tool_use", "id": f"c{n}", "name": "listFiles", "input": arguments},
    )


def say(text: str) -> Reply:
    return message(99, {"type": "text", "text": text})


REFUSAL = Reply(
    [
        json.dumps(
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
                    "different conversation. Remove the block, or set "
                    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
                },
            }
        ).encode()
    ],
    status=400,
    headers={"content-type": "application/json"},
)


def run(database: Database, principal: Principal, server: WireServer, *replies: Reply) -> list[list[str]]:
    """Drive a run to its end, which must be an answer; return the thinking in each request."""
    for reply in replies:
        server.reply_once(reply)
    harness = Harness(database, [], provider=AnthropicChat("key", server.url))
    events = harness.events(harness.ask(principal))
    assert events[-1].data["status"] == "completed"
    assert harness.pauses == []
    return [thoughts_in(json.loads(body)) for body in server.bodies]


def test_rounds_that_are_folded_take_the_thinking_behind_them_along(
    database: Database, principal: Principal, server: WireServer
) -> None:
    # before round 4 the first two are summed up: what round 3 thought was thought of another prompt
    replies = (look(1), look(2), look(3), say("- nothing found"), look(4), say("Done."))
    assert run(database, principal, server, *replies) == [[], ["sig1"], ["sig1", "sig2"], [], [], ["sig4"]]


def test_thinking_that_is_refused_is_left_out_at_once(
    database: Database, principal: Principal, server: WireServer
) -> None:
    assert run(database, principal, server, look(1), REFUSAL, say("Done.")) == [[], ["sig1"], []]
    assert b'"c1"' in server.bodies[-1]
