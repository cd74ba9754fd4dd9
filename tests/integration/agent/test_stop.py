"""Stop: ends at once, keeps what was written, leaves the conversation valid (AG-20)."""

import threading

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_run import assert_well_formed
from werkbank.agent.conclusion import Ending
from werkbank.agent.trace import trace_of
from werkbank.database.connection import Database
from werkbank.domain.ids import new_id
from werkbank.domain.marking import without_data
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef
from werkbank.domain.trace import OUTCOME_UNKNOWN
from werkbank.tools.catalog import TOOLS
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import Registry, tool


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


def test_summary_of_a_stopped_run_tells_what_it_may_cost(database: Database, principal: Principal) -> None:
    # AG-19: the call that is cut off is settled only when its function notices
    held = threading.Event()
    harness = Harness(database, [["The beginning", held, " and the end."]])
    ref = harness.start(principal)
    stop_in_mid_answer(harness, ref, held)
    (summary,) = (event.data for event in harness.events(ref) if event.type == "agentSummary")
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
        (charge,) = (charge for charge in session.ledger.charges(ref.run_id) if charge.kind == "agentRound")
    assert (summary["costChf"], summary["reservedChf"]) == ("0.000000", str(charge.reserved_chf))
    assert 0 < run.spent_chf <= charge.reserved_chf
    assert run.reserved_chf == 0


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


def test_what_a_tool_did_while_the_run_was_stopped_is_known(database: Database, principal: Principal) -> None:
    # AG-20, AG-21: in the trace, and to the next question
    def stop_meanwhile(context: ToolContext) -> None:
        stop(harness, ref)
        context.emit("fileCreated", {"fileId": "f", "fileName": "mail.eml"})

    @tool()
    def send_letter(context: ToolContext, to: str) -> str:
        """Send a letter."""
        stop_meanwhile(context)
        return "Sent as no. 7."

    workflow_id = new_id()
    call = ToolCall(id="s", name="sendLetter", arguments='{"to": "Anna"}')
    harness = Harness(database, [[call], ["It went out."], ["Still."]], Registry([*TOOLS, send_letter]))
    ref = harness.start(principal, workflowId=workflow_id)
    harness.run_tools(ref, harness.rounds.run(ref, 1, 30))
    assert_well_formed(harness.events(ref))
    with database.session(principal) as session:
        (log,) = trace_of(session, ref.run_id).rounds[0].tool_calls
    assert (log.status, log.result) == ("succeeded", "Sent as no. 7.")
    harness.ask(principal, "Has the letter gone out?", workflowId=workflow_id)
    told = harness.model.requests[-1].messages[-1].content
    assert '- sendLetter {"to": "Anna"}: done. Sent as no. 7.' in told
    assert "sendLetter" not in without_data(told)  # AG-16


def test_call_that_died_with_its_run_is_told_as_unknown(database: Database, principal: Principal) -> None:
    # AG-20, AG-12
    workflow_id = new_id()
    write = ToolCall(id="w", name="writeFile", arguments='{"name": "a.md", "content": "a"}')
    harness = Harness(database, [[write, LIST_CALL], ["Let me look."]])
    ref = harness.start(principal, workflowId=workflow_id)
    harness.rounds.run(ref, 1, 30)
    for call_id in "wa":
        database.step(principal).claim_call(ref.run_id, 1, call_id, 9)
    stop(harness, ref)
    harness.ask(principal, "And now?", workflowId=workflow_id)
    told = harness.model.requests[-1].messages[-1].content
    assert f"- writeFile {write.arguments}: {OUTCOME_UNKNOWN}" in told
    assert "listFiles" not in told


def test_calls_of_answered_questions_are_not_told_as_cut_short(database: Database, principal: Principal) -> None:
    workflow_id = new_id()
    write = ToolCall(id="w", name="writeFile", arguments='{"name": "a.md", "content": "a"}')
    harness = Harness(database, [[write], ["Written."], ["Yes."]])
    harness.ask(principal, workflowId=workflow_id)
    harness.ask(principal, "Is it written?", workflowId=workflow_id)
    assert "stopped or failed before an answer" not in harness.model.requests[-1].messages[-1].content


def test_second_end_changes_nothing(database: Database, principal: Principal) -> None:
    # AG-19: exactly one of complete, stopped, error
    harness = Harness(database, [["done"]])
    ref = harness.ask(principal)
    before = harness.events(ref)
    assert not stop(harness, ref)
    harness.finisher.finish(ref, Ending(status="error", title="late"), 30)
    assert harness.events(ref) == before
