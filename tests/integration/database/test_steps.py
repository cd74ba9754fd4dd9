"""The loop's steps: whole, of one principal, and leaving nothing behind when they are refused (AG-23, AG-06)."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal

import pytest
from pydantic import BaseModel

from tests.integration.agent.harness import LIST_CALL, TIMEOUT_SECONDS, Harness
from tests.integration.conftest import new_member
from werkbank.agent.conclusion import Ending
from werkbank.database.connection import Database
from werkbank.domain.billing import Preflight, Reservation
from werkbank.domain.errors import BudgetExceeded, NotFound, RunOver
from werkbank.domain.events import RunEvent
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Briefing, Run, RunRef, StoredMessage
from werkbank.domain.steps import Claim, RoundStart
from werkbank.domain.time import utc_now
from werkbank.domain.trace import AgentRoundLog, Progress, ToolCallLog


def asked(database: Database, principal: Principal) -> tuple[Harness, RunRef]:
    """A run whose model has asked for one call in its first round."""
    harness = Harness(database, [[LIST_CALL], ["Done."]])
    ref = harness.start(principal)
    harness.rounds.run(ref, 1, TIMEOUT_SECONDS)
    return harness, ref


def call_of(database: Database, ref: RunRef) -> ToolCallLog:
    with database.session(ref.principal) as session:
        return session.tool_calls.get(ref.run_id, 1, "a")


def answer_of(database: Database, ref: RunRef, round: int) -> StoredMessage:
    with database.session(ref.principal) as session:
        run = session.runs.get(ref.run_id)
    return StoredMessage.by_model(run, round, "An answer.", utc_now(), tool_calls=(LIST_CALL,))


def log_of(round: int) -> AgentRoundLog:
    return AgentRoundLog(
        round=round, attempts=1, model="m", stop_reason="stop", input_tokens=1, output_tokens=1,
        cached_input_tokens=0, cost_chf=Decimal(0), duration_ms=1,
    )  # fmt: skip


def test_they_bring_every_field(database: Database, principal: Principal) -> None:
    # A field that a function leaves out would silently have its default.
    _, ref = asked(database, principal)
    with database.session(principal) as session:

        def raw(call: str, *arguments: object) -> dict[str, dict[str, object]]:
            row = session.connection.execute(f"SELECT werkbank.{call} AS found".encode(), arguments).fetchone()
            assert row
            return dict(json.loads(row["found"]))

        claim = raw("claim_call(%s, 1, 'a', 9)", ref.run_id)
        start = raw("begin_round(%s, 2, 100)", ref.run_id)
        progress = raw("progress(%s, 3)", ref.run_id)
        preflight = raw("preflight(%s, false)", ref.run_id)

    def first(found: object) -> dict[str, object]:
        assert isinstance(found, list)
        return dict(found[0])

    for model, found in (
        (RoundStart, start), (Run, start["run"]), (Briefing, start["briefing"]), (RunEvent, start["event"]),
        (StoredMessage, first(start["messages"])), (ToolCallLog, first(start["calls"])), (Claim, claim),
        (ToolCallLog, claim["call"]), (Progress, progress), (Preflight, preflight),
    ):  # fmt: skip
        assert issubclass(model, BaseModel)
        assert set(model.model_fields) <= set(found), model.__name__
    assert set(ToolCallLog.model_fields) - {"result", "completed_at"} <= set(first(progress["latest_calls"]))


def test_they_see_only_what_their_principal_may_see(database: Database, principal: Principal) -> None:
    # TB-04
    _, ref = asked(database, principal)
    for stranger in (new_member(database), new_member(database, principal.mandate_id)):
        step = database.step(stranger)
        with pytest.raises(NotFound):
            step.begin_round(ref.run_id, 2)
        with pytest.raises(NotFound):
            step.progress(ref.run_id, 3)
        with pytest.raises(NotFound):
            step.claim_call(ref.run_id, 1, "a", 9)
        with pytest.raises(RunOver):
            step.append_event(ref.run_id, "chunk", {"text": "forged"})
        with pytest.raises(RunOver):
            step.store_answer(answer_of(database, ref, 2), frozenset(), log_of(2), ())
        assert step.complete_call(ref.run_id, 1, "a", "succeeded", "forged", 1, {}) is None
    assert call_of(database, ref).status == "requested"
    assert database.step(principal).begin_round(ref.run_id, 2).attempt == 1


def test_of_many_claims_one_is_told(database: Database, principal: Principal) -> None:
    # AG-23
    _, ref = asked(database, principal)
    gate = threading.Barrier(8)

    def claim(_: int) -> bool:
        gate.wait()
        return database.step(principal).claim_call(ref.run_id, 1, "a", 1_000).event is not None

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(claim, range(8)))
    assert told.count(True) == 1


def test_of_many_answers_the_first_is_kept(database: Database, principal: Principal) -> None:
    # AG-23: two attempts at one round may come to their end together
    _, ref = asked(database, principal)
    gate = threading.Barrier(4)
    database.step(principal).begin_round(ref.run_id, 2)
    answer = answer_of(database, ref, 2)

    def store(model: str) -> tuple[str, int]:
        gate.wait()
        said, log = answer.model_copy(update={"content": model}), log_of(2).model_copy(update={"model": model})
        stored = database.step(principal).store_answer(said, frozenset(), log, ({"status": "lastGood"},))
        return stored.answer.content, len(stored.events)

    with ThreadPoolExecutor(4) as pool:
        stored = list(pool.map(store, "abcd"))
    with database.session(principal) as session:
        logged = session.runs.rounds(ref.run_id)[1].model
    # AG-21: the log and what is told are of the answer that is kept
    assert {kept for kept, _ in stored} == {logged}
    assert sorted(told for _, told in stored) == [0, 0, 0, 1]


def test_nothing_stays_of_what_comes_after_the_end(database: Database, principal: Principal) -> None:
    # AG-20
    harness, ref = asked(database, principal)
    step = database.step(principal)
    harness.finisher.finish(ref, Ending(status="stopped"), TIMEOUT_SECONDS)
    with pytest.raises(RunOver):
        step.claim_call(ref.run_id, 1, "a", 9)
    with pytest.raises(RunOver):
        step.store_answer(answer_of(database, ref, 2), frozenset(), log_of(2), ())
    assert call_of(database, ref).status == "requested"
    assert step.begin_round(ref.run_id, 2).attempt is None
    with database.session(principal) as session:
        assert session.messages.answer(ref.run_id, 2) is None
        assert session.runs.get(ref.run_id).rounds == 1


def test_a_result_that_comes_after_the_end_is_kept_and_not_told(database: Database, principal: Principal) -> None:
    # AG-20, AG-19: what was done is known; the last event stays the last
    harness, ref = asked(database, principal)
    step = database.step(principal)
    step.claim_call(ref.run_id, 1, "a", 9)
    harness.finisher.finish(ref, Ending(status="stopped"), TIMEOUT_SECONDS)
    events = harness.events(ref)
    assert step.complete_call(ref.run_id, 1, "a", "succeeded", "late", 1, {}) is None
    call = call_of(database, ref)
    assert (call.status, call.result) == ("succeeded", "late")
    assert harness.events(ref) == events


def test_a_refused_reservation_leaves_nothing_behind(database: Database, limited_principal: Principal) -> None:
    # AG-06, AI-08: of the run's cap and of the mandate's limit
    ref = Harness(database, []).start(limited_principal, config={"maxCostCHF": "0.5"})
    step = database.step(limited_principal)
    for amount, of_run, whose in (("0.6", ref.run_id, "question"), ("1.1", None, "organisation")):
        with pytest.raises(BudgetExceeded, match=whose):
            step.reserve(
                Reservation(id=new_id(), amount_chf=Decimal(amount), kind="agentRound", model="m", run_id=of_run)
            )
    with database.session(limited_principal) as session:
        assert session.runs.get(ref.run_id).reserved_chf == 0
        assert session.ledger.charges(ref.run_id) == ()
    assert step.preflight(None, is_closing=False).remaining_chf == 1


def test_a_session_that_fails_is_rolled_back(database: Database, principal: Principal) -> None:
    # What is written and not waited for must not stay either.
    _, ref = asked(database, principal)
    with suppress(ZeroDivisionError), database.session(principal) as session:
        session.runs.grant_toolbox(ref.run_id, "web")
        raise ZeroDivisionError
    with database.session(principal) as session:
        assert session.runs.get(ref.run_id).granted_toolboxes == ()
