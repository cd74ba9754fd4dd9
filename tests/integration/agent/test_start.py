"""A run begins whatever happens on the way, or its page is told; one conversation answers one question at a time."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.integration.agent.harness import LIST_CALL, TIMEOUT_SECONDS, Harness
from tests.integration.agent.test_frames import say
from tests.integration.agent.test_run import assert_well_formed
from tests.integration.knowledge.library import add_file
from werkbank.agent.conclusion import Ending
from werkbank.database.connection import Database
from werkbank.domain.errors import Conflict, LoopUnavailable
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef, RunRequest, StoredMessage
from werkbank.domain.sessions import WORKSPACE, parse_session
from werkbank.domain.time import utc_now


class Killed(BaseException):
    """The function's process is gone: nothing catches that."""


def ref_of(principal: Principal, run_id: str) -> RunRef:
    return RunRef(run_id=run_id, mandate_id=principal.mandate_id, user_id=principal.user_id)


def test_question_is_told_only_once_it_has_begun(database: Database, principal: Principal) -> None:
    # AG-23
    harness = Harness(database, [])
    run_id = new_id()
    harness.loop.fault = Killed()
    with pytest.raises(Killed):
        say(harness, principal, action="run", runId=run_id, prompt="Hi")
    assert harness.pushed.events == []


def test_question_that_died_before_it_began_begins_when_it_is_sent_again(
    database: Database, principal: Principal
) -> None:
    # AG-23
    harness = Harness(database, [["Here I am."]])
    frame = {"action": "run", "runId": new_id(), "prompt": "Hi"}
    harness.loop.fault = Killed()
    with pytest.raises(Killed):
        say(harness, principal, **frame)
    answers = say(harness, principal, **frame)
    assert [(answer["type"], answer["seq"]) for answer in answers] == [("status", 1)]
    assert set(harness.loop.started) == {frame["runId"]}
    ref = ref_of(principal, str(frame["runId"]))
    harness.drive(ref)
    assert_well_formed(harness.events(ref))


def test_question_that_died_before_it_began_begins_when_it_is_resumed(database: Database, principal: Principal) -> None:
    # AG-23: its page was loaded anew, so nobody has the frame any more
    harness = Harness(database, [])
    run_id = new_id()
    harness.loop.fault = Killed()
    with pytest.raises(Killed):
        say(harness, principal, action="run", runId=run_id, prompt="Hi")
    assert [answer["type"] for answer in say(harness, principal, action="resume", runId=run_id)] == ["status"]
    assert harness.loop.started == [run_id]


def test_same_request_begins_what_it_had_only_written(database: Database, principal: Principal) -> None:
    # AG-23: whoever else starts runs, such as a trigger whose event comes twice
    harness = Harness(database, [])
    run_id = new_id()
    harness.loop.fault = Killed()
    with pytest.raises(Killed):
        harness.start(principal, runId=run_id)
    harness.start(principal, runId=run_id)
    assert harness.loop.started == [run_id]


def test_question_that_has_begun_is_not_started_by_who_asks_for_it(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[LIST_CALL]])
    ref = harness.start(principal)
    harness.rounds.run(ref, 1, TIMEOUT_SECONDS)
    say(harness, principal, action="resume", runId=ref.run_id)
    assert harness.loop.started == [ref.run_id]


def test_question_sent_again_is_answered_with_what_was_told_since(database: Database, principal: Principal) -> None:
    # EV-02: the connection was away from the first event to the last
    harness = Harness(database, [["Here I am."]])
    frame = {"action": "run", "runId": new_id(), "prompt": "Hi"}
    assert say(harness, principal, **frame) == []
    ref = ref_of(principal, str(frame["runId"]))
    harness.drive(ref)
    answers = say(harness, principal, **frame)
    assert [answer["seq"] for answer in answers] == [event.seq for event in harness.events(ref)]
    assert harness.loop.started == [ref.run_id], "it has begun, so there is nothing to start"


def test_question_sent_again_does_not_need_its_files_any_more(database: Database, principal: Principal) -> None:
    file_id = add_file(database, principal, "Rent")
    harness = Harness(database, [])
    frame = {"action": "run", "runId": new_id(), "prompt": "Hi", "fileIds": [file_id]}
    say(harness, principal, **frame)
    with database.session(principal) as session:
        session.files.delete(file_id)
    assert [answer["type"] for answer in say(harness, principal, **frame)] == ["status"]


def test_loop_that_cannot_start_ends_the_run_as_one_to_try_again(database: Database, principal: Principal) -> None:
    # AG-19, AG-23
    workflow_id = new_id()
    harness = Harness(database, [["Here I am."]])
    harness.loop.fault = LoopUnavailable("It takes on no work.")
    ref = harness.start(principal, workflowId=workflow_id)
    events = harness.events(ref)
    assert_well_formed(events)
    assert (events[-1].type, events[-1].data["retryable"]) == ("error", True)
    assert events[-1].data["detail"] == "It takes on no work."
    assert sorted(event.seq for event in harness.pushed.events) == [event.seq for event in events]
    following = harness.ask(principal, "Again", workflowId=workflow_id)
    assert harness.events(following)[-1].data["status"] == "completed"


def roles_and_words(harness: Harness, request: int) -> list[tuple[str, str]]:
    """Return what a call's model was told behind the system prompt, the first line of each message."""
    messages = harness.model.requests[request].messages[1:]
    return [(message.role, message.content.splitlines()[0] if message.content else "") for message in messages]


@pytest.mark.parametrize("rounds", [0, 1])
def test_second_question_waits_for_the_first(database: Database, principal: Principal, rounds: int) -> None:
    # a second page, or a program: neither run may answer the other's question
    workflow_id = new_id()
    harness = Harness(database, [[LIST_CALL], ["On rents."], ["On salaries."]])
    first = harness.start(principal, "Rents?", workflowId=workflow_id)
    for round in range(1, rounds + 1):
        harness.run_tools(first, harness.rounds.run(first, round, TIMEOUT_SECONDS))
    second = {"action": "run", "runId": new_id(), "prompt": "Salaries?", "workflowId": workflow_id}
    (answer,) = say(harness, principal, **second)
    assert answer["data"]["status"] == 409  # type: ignore[index]
    assert "still being answered" in json.dumps(answer)
    harness.drive(first)
    assert say(harness, principal, **second) == []
    harness.drive(ref_of(principal, str(second["runId"])))
    assert [role for role, _ in roles_and_words(harness, 1)] == ["user", "assistant", "tool"]
    assert roles_and_words(harness, 2) == [("user", "Rents?"), ("assistant", "On rents."), ("user", "Salaries?")]


def test_two_questions_at_the_same_moment_are_one_and_a_refusal(database: Database, principal: Principal) -> None:
    workflow_id = new_id()
    harness = Harness(database, [])

    def ask(_: int) -> bool:
        try:
            harness.start(principal, workflowId=workflow_id)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(ask, range(4))) == [False, False, False, True]


def test_other_conversations_do_not_wait(database: Database, principal: Principal) -> None:
    harness = Harness(database, [])
    harness.start(principal, workflowId=new_id())
    harness.start(principal, workflowId=new_id())
    assert len(harness.loop.started) == 2


def test_what_a_run_says_after_its_end_is_not_told_to_the_next_in_mid_answer(
    database: Database, principal: Principal
) -> None:
    # the first run's closing text is under way when its user stops it and asks anew
    workflow_id = new_id()
    harness = Harness(database, [[LIST_CALL], [LIST_CALL], ["On salaries."]])
    first = harness.start(principal, "Rents?", workflowId=workflow_id)
    harness.run_tools(first, harness.rounds.run(first, 1, TIMEOUT_SECONDS))
    with database.session(principal) as session:
        run = session.runs.get(first.run_id)
    harness.conclusion.conclude(first, Ending(status="stopped"))
    second = harness.start(principal, "Salaries?", workflowId=workflow_id)
    harness.run_tools(second, harness.rounds.run(second, 1, TIMEOUT_SECONDS))
    with database.session(principal) as session:
        session.messages.add(StoredMessage.by_model(run, 2, "I stopped.", utc_now()))
    harness.drive(second)
    before, after = (request.messages for request in (harness.model.requests[1], harness.model.requests[-1]))
    assert after[: len(before)] == before, "the cached prefix"
    assert not [message for message in after if "I stopped." in message.content]


def test_conversation_that_is_deleted_ends_its_run(database: Database, principal: Principal) -> None:
    # AG-19: nobody waits for ever
    harness = Harness(database, [])
    workflow_id = new_id()
    ref = harness.start(principal, workflowId=workflow_id)
    other = harness.start(principal, workflowId=new_id())
    harness.stopping.stop_all(principal, workflow_id)
    assert harness.pushed.events[-1].type == "stopped"
    assert harness.events(ref)[-1].type == "stopped"
    assert harness.loop.stopped == [ref.run_id]
    assert [event.type for event in harness.events(other)] == ["status"]


def test_trigger_is_held_to_the_same(database: Database, principal: Principal) -> None:
    workflow_id = new_id()
    harness = Harness(database, [])
    request = RunRequest(prompt="Hi", workflow_id=workflow_id)
    harness.starter.start(principal, request, WORKSPACE)
    with pytest.raises(Conflict):
        harness.starter.start(principal, request, parse_session("email_trigger"))
