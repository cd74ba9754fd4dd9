"""A user sees, pins and forgets what they are remembered for, through the whole system (AG-17)."""

from pathlib import Path

import pytest

from infra.local.client import Client, Json, ProblemError, Socket
from tests.integration.stack.conftest import Script, ask, run
from tests.scripted_server import Hold


def memory_of(client: Client, message_id: str) -> Json | None:
    memories = client.call("GET", "/memories")["memories"]
    return next((memory for memory in memories if memory["id"] == message_id), None)


def test_memory_is_pinned_seen_and_forgotten(client: Client, script: Script, socket: Socket) -> None:
    events = ask(socket, script.add(["Gemerkt."], about="Merke dir: Die Filiale heisst Marzipan."))
    message_id = events[0]["data"]["messageId"]
    assert events[0]["data"]["pinned"] is True
    memory = memory_of(client, message_id)
    assert memory
    assert (memory["pinned"], memory["importance"]) == (True, 1.0)
    question = script.add(["Marzipan."], about="Wie heisst die Filiale?")
    ask(socket, question)
    assert "Die Filiale heisst Marzipan." in str(script.requests[question][0]["messages"])

    client.call("PATCH", f"/memories/{message_id}", json={"pinned": False})
    assert message_id not in {memory["id"] for memory in client.call("GET", "/memories?pinned=true")["memories"]}
    client.call("DELETE", f"/memories/{message_id}")
    assert memory_of(client, message_id) is None
    with pytest.raises(ProblemError, match="memory"):
        client.call("DELETE", f"/memories/{message_id}")
    question = script.add(["Weiss nicht."], about="Wie heisst die Filiale?")
    ask(socket, question)
    told = str(script.requests[question][0]["messages"])
    assert "Die Filiale heisst Marzipan." not in told
    assert "Gemerkt." not in told

    (message,) = (
        message
        for message in client.call("GET", f"/workflows/{events[0]['data']['workflowId']}")["messages"]
        if message["role"] == "user"
    )
    assert (message["id"], message["pinned"]) == (message_id, False)


def test_stopped_question_is_remembered(client: Client, script: Script, socket: Socket, tmp_path: Path) -> None:
    # AG-04, AG-20: its execution is aborted, which EventBridge tells finish_run
    gate = tmp_path / "released"
    run_id = run(socket, script.add(["Half of the ", Hold(gate), "answer"], about="Wo liegt die Filiale Marzipan?"))
    for event in socket.events_of(run_id):
        if event["type"] == "chunk":
            socket.send(action="stop", runId=run_id)
    gate.touch()
    assert event["type"] == "stopped"
    while {"kind": "embedding", "calls": 2} not in _calls(client, run_id):  # the question's, then what is remembered
        pass  # the test's own time limit ends this


def _calls(client: Client, run_id: str) -> list[Json]:
    costs = client.call("GET", f"/runs/{run_id}/trace")["costs"]
    return [{"kind": total["kind"], "calls": total["calls"]} for total in costs]
