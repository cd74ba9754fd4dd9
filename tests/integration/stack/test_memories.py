"""A user sees, pins and forgets what they are remembered for, through the whole system (AG-17)."""

import pytest

from infra.local.client import Client, Json, ProblemError, Socket
from tests.integration.stack.conftest import Script, ask


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
