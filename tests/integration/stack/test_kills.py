"""kill -9 in the middle: the run completes, no effect twice, no gap (AG-23)."""

import os
import signal
import threading
from pathlib import Path

from infra.local.client import Client, Json, Socket
from infra.local.stack import LocalStack
from tests.integration.stack.conftest import Script, assert_gapless, run, text_of
from tests.scripted_server import Hold
from werkbank.domain.messages import ToolCall


def kill(stack: LocalStack, function: str) -> None:
    """kill -9 every process of a function."""
    for pid in stack.function_pids(function):
        os.kill(pid, signal.SIGKILL)


def test_killed_round_is_done_again(
    script: Script, stack: LocalStack, client: Client, socket: Socket, tmp_path: Path
) -> None:
    gate = tmp_path / "never"
    question = script.add(["Half of the ", Hold(gate), "answer"], ["The whole answer."])
    run_id = run(socket, question)
    events: list[Json] = []
    for event in socket.events_of(run_id):
        events.append(event)
        if event["type"] == "chunk" and event["data"]["attempt"] == 1:
            kill(stack, "agent_round")
    gate.touch()
    assert_gapless(events)
    assert events[-1]["data"]["status"] == "completed"
    assert {event["data"]["attempt"] for event in events if event["type"] == "chunk"} == {1, 2}
    assert text_of(events) == "The whole answer."


def test_killed_tool_has_its_effect_once(script: Script, stack: LocalStack, client: Client, socket: Socket) -> None:
    name = "written once.md"
    write = ToolCall(
        id="w", name="writeFile", arguments=f'{{"name": "{name}", "content": "{"once " * 20_000}", "mode": "create"}}'
    )
    run_id = run(socket, script.add([write], ["Written."]))
    events: list[Json] = []
    for event in socket.events_of(run_id):
        events.append(event)
        if event["type"] == "toolCall":  # claimed, and about to have its effect
            kill(stack, "execute_tool")
    assert_gapless(events)
    assert events[-1]["data"]["status"] == "completed"
    assert [event["type"] for event in events].count("toolCall") == 1
    assert [event["data"]["success"] for event in events if event["type"] == "toolResult"] == [True]
    files = client.call("GET", "/files", params={"search": name})["files"]
    assert [file["size"] for file in files] == [100_000]


def test_run_survives_kills_everywhere(script: Script, stack: LocalStack, socket: Socket) -> None:
    # every function of the loop dies again and again while the run goes on
    words = ["Miete", "Strom", "Wasser", "Bahn", "Zoll", "Ernte"]  # calls unlike each other, or the run goes in circles
    calls = [ToolCall(id=word, name="listFiles", arguments=f'{{"search": "{word}"}}') for word in words]
    run_id = run(socket, script.add(calls[:3], calls[3:], ["Still here."]))
    over = threading.Event()

    def keep_killing() -> None:
        for function in ("check_budget", "agent_round", "execute_tool", "finish_run"):
            if over.wait(0.7):
                return
            kill(stack, function)

    killer = threading.Thread(target=keep_killing)
    killer.start()
    events = list(socket.events_of(run_id))
    over.set()
    killer.join()
    assert_gapless(events)
    assert events[-1]["data"]["status"] == "completed"
    assert text_of(events) == "Still here."
    assert len([event for event in events if event["type"] == "toolResult"]) == 6
