"""Stop: ends at once, keeps what was written, leaves the conversation valid (AG-20)."""

import threading

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_run import assert_well_formed
from werkbank.agent.conclusion import Ending
from werkbank.database.connection import Database
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef


def stop(harness: Harness, ref: RunRef) -> bool:
    return harness.conclusion.conclude(ref, Ending(status="stopped"))


def stop_in_mid_answer(harness: Harness, ref: RunRef, held: threading.Event) -> None:
    """Run a round until its first words are out, stop the run, then let the model go on."""
    round_ = threading.Thread(target=harness.rounds.run, args=(ref, 1, 30))
    round_.start()
    while not harness.pushed.of_type("chunk"):
        pass
    stop(harness, ref)
    held.set()
    round_.join(20)
    assert not round_.is_alive()


def test_stop_keeps_the_text_written_so_far(database: Database, principal: Principal) -> None:
    held = threading.Event()
    harness = Harness(database, [["The beginning", held, " and what nobody should see.", " More."]])
    ref = harness.start(principal)
    stop_in_mid_answer(harness, ref, held)
    events = harness.events(ref)
    assert_well_formed(events)
    assert events[-1].type == "stopped"
    assert [e.data["content"] for e in events if e.type == "message"] == ["The beginning"]
    with database.session(principal) as session:
        answer = session.messages.last_answer(ref.run_id)
    assert answer is not None
    assert answer.partial


def test_next_question_works_after_a_stop(database: Database, principal: Principal) -> None:
    held = threading.Event()
    workflow_id = new_id()
    harness = Harness(database, [["The beginning", held, " never seen"], ["A new answer."]])
    ref = harness.start(principal, workflowId=workflow_id)
    stop_in_mid_answer(harness, ref, held)
    following = harness.ask(principal, "And now?", workflowId=workflow_id)
    assert harness.events(following)[-1].data["status"] == "completed"
    roles = [message.role for message in harness.model.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_stop_between_tools_leaves_a_valid_history(database: Database, principal: Principal) -> None:
    workflow_id = new_id()
    harness = Harness(database, [[LIST_CALL], ["A new answer."]])
    ref = harness.start(principal, workflowId=workflow_id)
    step = harness.rounds.run(ref, 1, 30)
    stop(harness, ref)
    harness.run_tools(ref, step)  # the state machine may still be at it
    assert harness.events(ref)[-1].type == "stopped"
    following = harness.ask(principal, "And now?", workflowId=workflow_id)
    assert harness.events(following)[-1].data["status"] == "completed"


def test_second_end_changes_nothing(database: Database, principal: Principal) -> None:
    # AG-19: exactly one of complete, stopped, error
    harness = Harness(database, [["done"]])
    ref = harness.ask(principal)
    before = harness.events(ref)
    assert not stop(harness, ref)
    harness.finisher.finish(ref, Ending(status="error", title="late"), 30)
    assert harness.events(ref) == before
