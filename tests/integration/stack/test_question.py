"""A question from socket to last event through the real template (AG-19, AG-20, EV-01 to EV-03)."""

import json
import threading
import time
import uuid
from pathlib import Path

import pytest

from infra.local.client import Client, ProblemError, Socket
from infra.local.stack import LocalStack
from tests.integration.stack.conftest import Script, ask, assert_gapless, run, text_of
from tests.scripted_server import Hold
from werkbank.domain.messages import ToolCall

LIST = ToolCall(id="list", name="listFiles", arguments="{}")


def stored_text(client: Client, run_id: str) -> str:
    """Return a run's last stored answer."""
    events = client.call("GET", f"/runs/{run_id}/events")["events"]
    workflow_id = events[0]["data"]["workflowId"]
    messages = client.call("GET", f"/workflows/{workflow_id}")["messages"]
    return str([m for m in messages if m["runId"] == run_id and m["role"] == "assistant"][-1]["content"])


def test_question_with_tools_is_answered(script: Script, client: Client, socket: Socket) -> None:
    question = script.add([LIST, LIST.model_copy(update={"id": "again"})], ["You have ", "no files."])
    events = ask(socket, question)
    assert_gapless(events)
    assert events[-1]["type"] == "complete"
    assert events[-1]["data"]["status"] == "completed"
    assert text_of(events) == "You have no files."
    assert [e["data"]["success"] for e in events if e["type"] == "toolResult"] == [True, True]
    trace = client.call("GET", f"/runs/{events[0]['runId']}/trace")  # AG-21
    assert (trace["status"], trace["totalRounds"], trace["totalToolCalls"]) == ("completed", 2, 2)


def test_conversation_deleted_in_mid_answer_ends_its_run(
    script: Script, client: Client, socket: Socket, tmp_path: Path
) -> None:
    # AG-19, AG-20
    gate = tmp_path / "never"
    run_id = run(socket, script.add(["Half of the ", Hold(gate), "answer"]))
    events = []
    for event in socket.events_of(run_id):
        events.append(event)
        if event["type"] == "chunk":
            client.call("DELETE", f"/workflows/{events[0]['data']['workflowId']}")
    gate.touch()
    assert_gapless(events)
    assert events[-1]["type"] == "stopped"
    with pytest.raises(ProblemError, match="no such run"):
        client.call("GET", f"/runs/{run_id}")


def test_second_question_of_a_conversation_waits_for_the_first(
    script: Script, client: Client, socket: Socket, tmp_path: Path
) -> None:
    gate = tmp_path / "go"
    first, second = script.add(["One ", Hold(gate), "moment."]), script.add(["At last."])
    run_id = run(socket, first)
    started = next(socket.events_of(run_id))
    with client.socket() as other:
        (refused,) = ask(other, second, workflowId=started["data"]["workflowId"])
        assert refused["data"]["status"] == 409
        gate.touch()
        assert list(socket.events_of(run_id, 1))[-1]["data"]["status"] == "completed"
        assert text_of(ask(other, second, workflowId=started["data"]["workflowId"])) == "At last."


def test_same_frame_twice_is_one_run(script: Script, client: Client, socket: Socket) -> None:
    # AG-23
    run_id = str(uuid.uuid4())
    question = script.add(["Once."])
    for _ in range(2):
        socket.send(action="run", runId=run_id, prompt=question)
    events = list(socket.events_of(run_id))
    assert_gapless(events)
    assert len(script.requests[question]) == 1
    workflow = client.call("GET", f"/workflows/{events[0]['data']['workflowId']}")
    assert [message["role"] for message in workflow["messages"]] == ["user", "assistant"]


def test_dropped_socket_resumes_to_the_identical_text(script: Script, client: Client, tmp_path: Path) -> None:
    # EV-02
    gate = tmp_path / "go"
    question = script.add(["Zwölf Boxkämpfer ", Hold(gate), *(f"jagen {n} 🦆 " for n in range(200))])
    with client.socket() as first:
        run_id = run(first, question)
        seen = []
        for event in first.events_of(run_id):
            seen.append(event)
            if event["type"] == "chunk":
                break
    gate.touch()
    with client.socket() as second:
        second.send(action="resume", runId=run_id, afterSeq=seen[-1]["seq"])
        seen.extend(second.events_of(run_id, after_seq=seen[-1]["seq"]))
    assert_gapless(seen)
    assert text_of(seen) == stored_text(client, run_id)


def test_all_sockets_cut_in_mid_answer_fail_no_run(
    script: Script, stack: LocalStack, client: Client, tmp_path: Path
) -> None:
    # EV-03: a gone connection
    gate = tmp_path / "go"
    question = script.add(["Before ", Hold(gate), "and after."])
    with client.socket() as first:
        run_id = run(first, question)
        next(event for event in first.events_of(run_id) if event["type"] == "chunk")
        stack.drop_sockets()
        gate.touch()
        wait_until_over(client, run_id)
    assert stored_text(client, run_id) == "Before and after."


def test_throttled_pushes_fail_no_run(script: Script, stack: LocalStack, client: Client, socket: Socket) -> None:
    # EV-03: what was not pushed is in the log
    stack.throttle_pushes(1_000)
    run_id = run(socket, script.add([LIST], ["Done."]))
    wait_until_over(client, run_id)
    stack.throttle_pushes(0)
    events = client.call("GET", f"/runs/{run_id}/events")["events"]
    assert_gapless(events)
    assert events[-1]["type"] == "complete"


def test_answer_beyond_the_gateways_limit_is_told_and_fetched(script: Script, client: Client, socket: Socket) -> None:
    # EV-03: oversized
    events = ask(socket, script.add(["x" * 200_000]))
    (message,) = (event for event in events if event["type"] == "message")
    assert message["data"] == {"oversized": True}
    (fetched,) = client.call(
        "GET", f"/runs/{message['runId']}/events", params={"afterSeq": message["seq"] - 1, "limit": 1}
    )["events"]
    assert len(fetched["data"]["content"]) == 200_000
    assert text_of(events) == fetched["data"]["content"]


def test_stop_ends_the_run_and_the_next_question_works(
    script: Script, client: Client, socket: Socket, tmp_path: Path
) -> None:
    # AG-20
    gate = tmp_path / "never"
    workflow_id = str(uuid.uuid4())
    run_id = run(socket, script.add(["The beginning ", Hold(gate), "never seen"]), workflowId=workflow_id)
    events = socket.events_of(run_id)
    next(event for event in events if event["type"] == "chunk")
    socket.send(action="stop", runId=run_id)
    last = list(events)[-1]  # while the model is still held: a stop does not wait for it
    gate.touch()
    assert last["type"] == "stopped"
    assert stored_text(client, run_id) == "The beginning "
    answered = ask(socket, script.add(["Here I am."]), workflowId=workflow_id)
    assert answered[-1]["data"]["status"] == "completed"


def test_two_rounds_end_with_a_summary(script: Script, socket: Socket) -> None:
    # AG-07
    events = ask(socket, script.add([LIST]), config={"maxRounds": 2})
    assert events[-1]["data"]["status"] == "maxRoundsReached"
    (message,) = (event for event in events if event["type"] == "message")
    assert "2" in message["data"]["content"]


def test_provider_fault_reaches_the_user_in_words(script: Script, socket: Socket) -> None:
    from tests.scripted_server import Fault

    events = ask(socket, script.add([Fault(401, "invalid_api_key")]))
    assert events[-1]["type"] == "error"
    assert events[-1]["data"]["title"] == "The model provider refused the call"
    assert "Traceback" not in json.dumps(events)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"action": "dance"}',
        '{"action": "run"}',
        '{"action": "run", "prompt": ""}',
        '{"action": "run", "prompt": "x", "runId": "../../etc"}',
        '{"action": "run", "prompt": "x", "config": {"maxRounds": 1000}}',
        '{"action": "run", "prompt": "x", "surprise": 1}',
        '{"action": "stop"}',
        '{"action": "stop", "runId": "nobody"}',
        '{"action": "resume", "runId": "00000000-0000-0000-0000-000000000000", "afterSeq": 0}',
        '{"action": "resume", "runId": "00000000-0000-0000-0000-000000000000", "afterSeq": -1}',
    ],
)
def test_bad_frames_get_a_problem(socket: Socket, frame: str) -> None:
    socket.send_raw(frame)
    event = socket.receive()
    while event.get("seq") != 0:
        event = socket.receive()
    assert event["type"] == "error"
    assert event["data"]["status"] in {404, 422}
    assert event["data"]["detail"]
    socket.send(action="ping")
    assert socket.receive()["type"] == "pong"


def test_ticket_works_once(client: Client) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    ticket = client.call("POST", "/socket-tickets")
    address = f"{ticket['socketUrl']}?ticket={ticket['ticket']}"
    with connect(address):
        pass
    for refused in (address, ticket["socketUrl"], f"{ticket['socketUrl']}?ticket=made-up"):
        with pytest.raises(InvalidStatus), connect(refused):
            pytest.fail("the gateway let us in")


def test_api_speaks_problem_documents(client: Client, stack: LocalStack) -> None:
    for method, path, status in [
        ("GET", f"/files/{uuid.uuid4()}", 404),
        ("GET", "/runs/not-an-id", 404),
        ("GET", "/no/such/route", 404),
        ("POST", "/folders", 422),
    ]:
        with pytest.raises(ProblemError) as caught:
            client.call(method, path, json={} if method == "POST" else None)
        assert caught.value.status == status
        assert caught.value.problem["status"] == status
    with pytest.raises(ProblemError) as refused:
        Client(stack.url).call("GET", "/me")
    assert refused.value.status == 401


def test_many_runs_at_once_do_not_mix(script: Script, client: Client) -> None:
    # no cross-talk: every run gets its own text
    questions = [script.add([f"Answer {n} ", LIST], [f"and the end of {n}."]) for n in range(8)]
    results: dict[int, str] = {}

    def one(n: int) -> None:
        with client.socket() as socket:
            events = ask(socket, questions[n])
            assert_gapless(events)
            results[n] = text_of(events)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert results == {n: f"Answer {n} and the end of {n}." for n in range(8)}


def test_run_waits_for_consent_and_goes_on(script: Script, client: Client, socket: Socket) -> None:
    # AG-24, TB-03: through the real state machine's task token
    arguments = '{"toolboxId": "web", "reason": "The files do not say it."}'
    question = script.add([ToolCall(id="w", name="requestToolbox", arguments=arguments)], ["Thank you."])
    run_id = run(socket, question)
    events = []
    for event in socket.events_of(run_id):
        events.append(event)
        if event["type"] == "confirmation":
            assert event["data"]["name"] == "requestToolbox"
            decision = {"runId": run_id, "round": 1, "callId": "w", "approved": True}
            client.call("POST", "/confirmations", json=decision)
    assert_gapless(events)
    assert events[-1]["data"]["status"] == "completed"
    assert "readUrl" in str(script.requests[question][1]["tools"])
    with pytest.raises(ProblemError) as late:
        client.call("POST", "/confirmations", json=decision)
    assert late.value.status == 404


def wait_until_over(client: Client, run_id: str, seconds: float = 60) -> str:
    """Poll a run until it has ended; returns its status."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            status = str(client.call("GET", f"/runs/{run_id}")["status"])
        except ProblemError:
            status = "running"  # not written yet
        if status != "running":
            return status
        time.sleep(0.1)
    raise AssertionError(f"run {run_id} is still running")
