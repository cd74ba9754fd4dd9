"""A question from start to last event, on a real database with a scripted model."""

from collections.abc import Sequence
from decimal import Decimal

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_usage import new_instance
from tests.integration.conftest import new_member
from werkbank.agent.trace import trace_of
from werkbank.database.connection import Database
from werkbank.domain.errors import InvalidInput, NotFound, ProviderRefused, ProviderUnavailable
from werkbank.domain.events import TERMINAL_EVENTS, RunEvent
from werkbank.domain.ids import new_id
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal


def assert_well_formed(events: Sequence[RunEvent]) -> None:
    """EV-02, AG-19: numbers without gaps, exactly one last event, at the end."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.type in TERMINAL_EVENTS for event in events] == [False] * (len(events) - 1) + [True]


def test_answer_streams_and_ends_with_summary_and_complete(database: Database, principal: Principal) -> None:
    # AG-04, AG-19, EV-01
    harness = Harness(database, [[LIST_CALL], ["You have ", "no files."]])
    ref = harness.ask(principal)
    events = harness.events(ref)
    assert_well_formed(events)
    types = [event.type for event in events]
    assert types[0] == "status"
    assert types[-3:] == ["message", "agentSummary", "complete"]
    assert "".join(str(e.data["text"]) for e in events if e.type == "chunk") == "You have no files."
    summary = events[-2].data
    assert (summary["rounds"], summary["toolCalls"], summary["status"]) == (2, 1, "completed")
    assert (summary["outputTokens"], summary["reservedChf"]) == (40, "0.000000")
    assert harness.pushed.events == list(events)


def test_tool_results_come_back_to_the_model_in_call_order(database: Database, principal: Principal) -> None:
    # AG-05
    calls = [ToolCall(id=str(n), name="listFiles", arguments=f'{{"search": "{n}"}}') for n in range(3)]
    harness = Harness(database, [calls, ["done"]])
    harness.ask(principal)
    told = harness.model.requests[1].messages
    assert [m.tool_call_id for m in told if m.role == "tool"] == ["0", "1", "2"]


def test_prompt_prefix_stays_identical_between_rounds(database: Database, principal: Principal) -> None:
    # AG-15: the cached prefix
    harness = Harness(database, [[LIST_CALL], [LIST_CALL], ["done"]])
    harness.ask(principal)
    first, second, third = (request.messages for request in harness.model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert harness.model.requests[0].tools == harness.model.requests[2].tools


def test_model_is_told_the_time_in_the_users_zone(database: Database) -> None:
    # AG-15
    member = new_member(database).model_copy(update={"zone": "Asia/Tokyo"})
    harness = Harness(database, [["done"]])
    harness.ask(member)
    request = harness.model.requests[0].messages
    assert "Asia/Tokyo" in request[-1].content
    assert "Tokyo" not in request[0].content


def test_second_question_sees_the_first_answer(database: Database, principal: Principal) -> None:
    workflow_id = new_id()
    harness = Harness(database, [["The rent is 1,200 [1]."], ["As I said."]])
    harness.ask(principal, "How much is the rent?", workflowId=workflow_id)
    harness.ask(principal, "Really?", workflowId=workflow_id)
    told = [message.content for message in harness.model.requests[1].messages]
    assert told[1] == "How much is the rent?"
    assert told[2] == "The rent is 1,200."  # source numbers belong to their own run


def test_same_run_started_twice_is_one_run(database: Database, principal: Principal) -> None:
    # AG-23
    run_id = new_id()
    harness = Harness(database, [["done"]])
    first = harness.start(principal, runId=run_id)
    second = harness.start(principal, runId=run_id)
    assert first == second
    assert [e.type for e in harness.events(first)] == ["status"]
    with database.session(principal) as session:
        run = session.runs.get(run_id)
        assert run.workflow_id
        assert len(session.messages.of_workflow(run.workflow_id)) == 1


def test_run_id_of_somebody_else_looks_unknown(database: Database, principal: Principal) -> None:
    stranger = new_member(database)
    harness = Harness(database, [["done"]])
    run_id = harness.start(principal).run_id
    with pytest.raises(NotFound):
        harness.start(stranger, runId=run_id)


def test_malformed_ids_are_refused_with_an_example(database: Database, principal: Principal) -> None:
    with pytest.raises(InvalidInput, match="UUID"):
        Harness(database, []).start(principal, runId="not-an-id")


def test_attached_file_that_does_not_exist_is_named(database: Database, principal: Principal) -> None:
    missing = new_id()
    with pytest.raises(NotFound, match=missing):
        Harness(database, []).start(principal, fileIds=[missing])


def test_stored_answer_is_not_asked_for_again(database: Database, principal: Principal) -> None:
    # AG-23: idempotent on (run, round)
    harness = Harness(database, [["done"]])
    ref = harness.start(principal)
    first = harness.rounds.run(ref, 1, 30)
    assert harness.rounds.run(ref, 1, 30) == first
    assert len(harness.model.requests) == 1


def test_round_that_died_is_told_as_a_higher_attempt(database: Database, principal: Principal) -> None:
    # AG-23: a retried round's text replaces the dead one's
    harness = Harness(database, [["Half of the ", RuntimeError("killed")], ["The whole answer."]])
    ref = harness.start(principal)
    with pytest.raises(RuntimeError):
        harness.rounds.run(ref, 1, 30)
    harness.drive(ref)
    chunks = [event for event in harness.events(ref) if event.type == "chunk"]
    assert [(c.data["attempt"], c.data["text"]) for c in chunks] == [(1, "Half of the "), (2, "The whole answer.")]
    with database.session(principal) as session:
        assert session.messages.last_answer(ref.run_id).content == "The whole answer."  # type: ignore[union-attr]


def test_max_rounds_ends_with_a_summary_by_the_model(database: Database, principal: Principal) -> None:
    # AG-07
    harness = Harness(database, [[LIST_CALL], [LIST_CALL], ["So far I listed your files."]])
    ref = harness.ask(principal, config={"maxRounds": 2})
    events = harness.events(ref)
    assert_well_formed(events)
    assert events[-1].data["status"] == "maxRoundsReached"
    assert [e.data["content"] for e in events if e.type == "message"] == ["So far I listed your files."]
    assert not harness.model.requests[2].may_call_tools


def test_max_rounds_ends_with_a_built_summary_when_the_model_fails(database: Database, principal: Principal) -> None:
    # AG-07: never silence
    harness = Harness(database, [[LIST_CALL], [LIST_CALL], [ProviderRefused("no credit")]])
    ref = harness.ask(principal, config={"maxRounds": 2})
    (message,) = (e for e in harness.events(ref) if e.type == "message")
    assert "rounds" in str(message.data["content"])
    assert "listFiles" in str(message.data["content"])


def test_trace_holds_rounds_and_tool_calls(database: Database, principal: Principal) -> None:
    # AG-21
    search = ToolCall(id="b", name="searchFiles", arguments='{"query": "rent"}')
    harness = Harness(database, [[LIST_CALL], [search], ["done"]])
    ref = harness.ask(principal)
    with database.session(principal) as session:
        trace = trace_of(session, ref.run_id)
    assert (trace.status, trace.total_rounds, trace.total_tool_calls) == ("completed", 3, 2)
    called = [[call.name for call in log.tool_calls] for log in trace.rounds]
    assert called == [["listFiles"], ["searchFiles"], []]
    assert trace.rounds[0].model == "private/scripted"


def test_every_call_is_in_summary_and_trace(database: Database, principal: Principal) -> None:
    # AG-19, AG-21, AI-08: the closing text's, the question's vector, the attempt that was lost; memory comes after it
    instance_id = new_instance(database, principal)
    harness = Harness(database, [["Half of it", ProviderUnavailable("gone")], [LIST_CALL], ["As far as I got."]])
    ref = harness.start(principal, instanceId=instance_id, config={"maxRounds": 1})
    with database.session(principal) as session:
        session.connection.execute("UPDATE run SET started_at = started_at - interval '90 seconds'")
    harness.drive(ref)
    (summary,) = (event.data for event in harness.events(ref) if event.type == "agentSummary")
    with database.session(principal) as session:
        trace = trace_of(session, ref.run_id)
        *before, memory = session.ledger.charges(ref.run_id)
    assert {total.kind: total.calls for total in trace.costs} == {"agentRound": 2, "summary": 1, "embedding": 2}
    assert trace.total_cost_chf == sum(total.cost_chf for total in trace.costs) == Decimal(str(summary["costChf"]))
    assert memory.kind == "embedding"
    assert summary["inputTokens"] == sum(charge.input_tokens for charge in before) > 200
    assert summary["outputTokens"] == sum(charge.output_tokens for charge in before) > 40
    assert int(str(summary["durationMs"])) >= 90_000
    assert trace.feature_instance_id == instance_id


def test_failed_knowledge_does_not_fail_the_run(database: Database, principal: Principal) -> None:
    # KS-08
    harness = Harness(database, [["done"]], can_embed=False)
    ref = harness.ask(principal)
    assert harness.events(ref)[-1].data["status"] == "completed"


def test_run_that_goes_in_circles_is_stopped_and_says_why(database: Database, principal: Principal) -> None:
    # AG-09
    harness = Harness(database, [[LIST_CALL], [LIST_CALL], [LIST_CALL], ["I kept listing the same files."]])
    ref = harness.ask(principal)
    events = harness.events(ref)
    assert_well_formed(events)
    assert events[-1].data["status"] == "stalled"
    assert "repeating" in harness.model.requests[-1].messages[-1].content
    assert len(harness.model.requests) == 4


def test_model_may_ask_for_more_rounds(
    database: Database, principal: Principal, caplog: pytest.LogCaptureFixture
) -> None:
    # AG-08: ten more; the reason is shown and kept in the run's own log, and never reaches the operators'
    more = ToolCall(id="m", name="request_more_iterations", arguments='{"reason": "Two contracts are left to read."}')
    harness = Harness(database, [[more], [LIST_CALL], ["All read."]])
    ref = harness.ask(principal, config={"maxRounds": 2})
    events = harness.events(ref)
    assert events[-1].data["status"] == "completed"
    assert [e.data["maxRounds"] for e in events if e.type == "agentProgress"] == [2, 12, 12]
    assert "Two contracts" in str(next(e for e in events if e.type == "toolCall").data["arguments"])
    with database.session(principal) as session:
        trace = trace_of(session, ref.run_id)
    (asked,) = trace.rounds[0].tool_calls
    assert "Two contracts" in asked.arguments
    assert asked.result == "You now have 11 rounds left, for: Two contracts are left to read."
    (logged,) = (record for record in caplog.records if record.getMessage() == "run got more rounds")
    assert (logged.runId, logged.maxRounds) == (ref.run_id, 12)  # type: ignore[attr-defined]
    assert not any("Two contracts" in str(vars(record)) for record in caplog.records)


def test_hard_cap_of_rounds_cannot_be_asked_away(database: Database, principal: Principal) -> None:
    # AG-08
    more = ToolCall(id="m", name="request_more_iterations", arguments='{"reason": "More and more and more."}')
    harness = Harness(database, [[more], ["Done."]])
    ref = harness.ask(principal, config={"maxRounds": 100})
    (result,) = (event for event in harness.events(ref) if event.type == "toolResult")
    assert not result.data["success"]
    assert "100" in str(result.data["summary"])


@pytest.mark.parametrize("temperature", [None, 0.0, 0.3])
def test_model_is_asked_with_the_temperature_of_the_config(
    database: Database, principal: Principal, temperature: float | None
) -> None:
    # AG-03
    harness = Harness(database, [["done"]])
    harness.ask(principal, config={"temperature": temperature})
    assert harness.model.requests[0].temperature == temperature
