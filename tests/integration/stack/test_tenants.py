"""Another mandate's ids behave as not found: through REST, socket, tools and search alike (TB-04, KS-02)."""

import pytest

from infra.local.client import Client, Json, ProblemError
from infra.local.stack import LocalStack
from tests.integration.stack.conftest import Script, ask, run
from tests.integration.stack.test_indexing import upload
from tests.stack import new_user
from werkbank.domain.messages import ToolCall

CHANGES = {"files": {"fileName": "mine"}, "workflows": {"title": "mine"}, "memories": {"pinned": True}}


@pytest.fixture(scope="module")
def stranger(stack: LocalStack) -> Client:
    """A user of another mandate, with every right there."""
    client = new_user(stack, "elsewhere", "admin", "operator")
    assert client.call("GET", "/me")["mandateId"] == "elsewhere"
    return client


@pytest.fixture(scope="module")
def secrets(client: Client, script: Script) -> Json:
    """A file, a conversation and a run of the demo user."""
    file = upload(client, "secret.txt", b"The vault opens with the word marzipan.")
    with client.socket() as socket:
        events = ask(socket, script.add(["Marzipan."]), fileIds=[file["id"]])
    started = events[0]["data"]
    return {
        "file": file["id"],
        "run": events[0]["runId"],
        "workflow": started["workflowId"],
        "message": started["messageId"],
    }


def test_rest_knows_nothing_of_them(stranger: Client, secrets: Json) -> None:
    for method, path in [
        ("GET", f"/files/{secrets['file']}"),
        ("PATCH", f"/files/{secrets['file']}"),
        ("DELETE", f"/files/{secrets['file']}"),
        ("GET", f"/files/{secrets['file']}/content"),
        ("GET", f"/files/{secrets['file']}/index"),
        ("GET", f"/files/{secrets['file']}/objects"),
        ("GET", f"/workflows/{secrets['workflow']}"),
        ("PATCH", f"/workflows/{secrets['workflow']}"),
        ("DELETE", f"/workflows/{secrets['workflow']}"),
        ("PATCH", f"/memories/{secrets['message']}"),
        ("DELETE", f"/memories/{secrets['message']}"),
        ("GET", f"/runs/{secrets['run']}"),
        ("GET", f"/runs/{secrets['run']}/events"),
        ("GET", f"/runs/{secrets['run']}/trace"),
    ]:
        with pytest.raises(ProblemError) as caught:
            stranger.call(method, path, json=CHANGES[path.split("/")[1]] if method == "PATCH" else None)
        assert caught.value.status == 404, (method, path)
    assert stranger.call("GET", "/files")["files"] == []
    assert stranger.call("GET", "/workflows")["workflows"] == []
    assert stranger.call("GET", "/memories")["memories"] == []


def test_search_finds_nothing_of_them(stranger: Client, client: Client, secrets: Json) -> None:
    question = {"q": "vault word marzipan"}
    assert client.call("GET", "/knowledge/search", params=question)["passages"]
    assert stranger.call("GET", "/knowledge/search", params=question)["passages"] == []


def test_socket_refuses_their_runs_and_files(stranger: Client, client: Client, secrets: Json) -> None:
    with stranger.socket() as socket:
        for frame in (
            {"action": "resume", "runId": secrets["run"], "afterSeq": 0},
            {"action": "stop", "runId": secrets["run"]},
            {"action": "run", "prompt": "Read it", "fileIds": [secrets["file"]]},
            {"action": "run", "prompt": "Take it over", "runId": secrets["run"]},
            {"action": "run", "prompt": "Go on", "workflowId": secrets["workflow"]},
        ):
            socket.send(**frame)
            event = socket.receive()
            assert (event["seq"], event["type"], event["data"]["status"]) == (0, "error", 404), frame
    assert client.call("GET", f"/runs/{secrets['run']}")["status"] == "completed"


def test_tools_cannot_read_their_files(stranger: Client, script: Script, secrets: Json) -> None:
    calls = [
        ToolCall(id="1", name="readFile", arguments=f'{{"file": "{secrets["file"]}"}}'),
        ToolCall(id="2", name="readFile", arguments='{"file": "secret.txt"}'),
        ToolCall(id="3", name="searchFiles", arguments='{"query": "vault word marzipan"}'),
        ToolCall(id="4", name="listFiles", arguments="{}"),
        ToolCall(id="5", name="readContentObjects", arguments=f'{{"file": "{secrets["file"]}"}}'),
    ]
    with stranger.socket() as socket:
        events = ask(socket, script.add(calls, ["Nothing."]))
    assert events[-1]["type"] == "complete"
    assert "marzipan." not in str(events)
    assert "secret.txt (" not in str(events)


def test_events_reach_only_their_user(stranger: Client, client: Client, script: Script) -> None:
    # EV-01: nothing of another user's run is pushed to a stranger's page
    with stranger.socket() as theirs, client.socket() as ours:
        run_id = run(ours, script.add(["For my eyes."]))
        list(ours.events_of(run_id))
        theirs.send(action="ping")
        assert theirs.receive() == {"type": "pong"}
