"""Money: reserved before every call, settled after it, never overspent (AG-06, AI-08)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.conftest import new_member
from tests.scripted_model import SCRIPTED
from werkbank.billing.purse import CallScope, Purse
from werkbank.database.connection import Database
from werkbank.domain.billing import Reservation
from werkbank.domain.errors import BudgetExceeded, ProviderUnavailable
from werkbank.domain.ids import new_id
from werkbank.domain.messages import Usage
from werkbank.domain.principal import Principal
from werkbank.domain.runs import AgentConfig, Run


def test_tiny_budget_stops_before_the_call_with_a_text(database: Database, principal: Principal) -> None:
    # AG-06
    harness = Harness(database, [])
    ref = harness.ask(principal, config={"maxCostCHF": "0.0001"})
    events = harness.events(ref)
    assert harness.model.requests == []
    assert events[-1].data["status"] == "budgetExceeded"
    (message,) = (event for event in events if event.type == "message")
    assert "budget" in str(message.data["content"])


def test_german_user_gets_a_german_closing_text(database: Database) -> None:
    member = new_member(database).model_copy(update={"language": "de"})
    harness = Harness(database, [])
    ref = harness.ask(member, config={"maxCostCHF": "0.0001"})
    (message,) = (event for event in harness.events(ref) if event.type == "message")
    assert "Budget" in str(message.data["content"])


def test_budget_used_up_between_rounds_ends_the_run(database: Database, principal: Principal) -> None:
    # AG-06: settled with real usage, which the first call reports as dear
    harness = Harness(database, [[LIST_CALL], ["never reached"]])
    harness.model.usage = Usage(input_tokens=9_000, output_tokens=4_000)
    ref = harness.ask(principal, config={"maxCostCHF": "0.1"})
    assert harness.events(ref)[-1].data["status"] == "budgetExceeded"
    assert len(harness.model.requests) == 1


def test_answer_is_shortened_to_what_is_affordable(database: Database, principal: Principal) -> None:
    # A small cap still gets a short answer instead of none.
    harness = Harness(database, [["short"]])
    ref = harness.ask(principal, config={"maxCostCHF": "0.05"})
    assert harness.events(ref)[-1].data["status"] == "completed"
    assert harness.model.requests[0].max_output_tokens < SCRIPTED.max_output_tokens


def test_unknown_price_is_refused_under_a_budget(database: Database, principal: Principal) -> None:
    unpriced = SCRIPTED.model_copy(update={"price": None})
    harness = Harness(database, [["answer"]], model=unpriced)
    ref = harness.ask(principal, config={"maxCostCHF": "5"})
    assert harness.events(ref)[-1].data["status"] == "budgetExceeded"


def test_mandate_limit_refuses_further_calls(database: Database, limited_principal: Principal) -> None:
    # AI-08: preflight refuses when spent
    harness = Harness(database, [["dear"], ["never"]])
    harness.model.usage = Usage(input_tokens=400_000, output_tokens=4_000)
    harness.ask(limited_principal)
    ref = harness.ask(limited_principal)
    assert harness.events(ref)[-1].data["status"] == "budgetExceeded"
    assert len(harness.model.requests) == 1


@pytest.mark.parametrize(
    ("before", "later", "status"),  # the first call costs 3.3048
    [("5", "0.1", "budgetExceeded"), ("3.31", "3.31", "budgetExceeded"), ("3.31", "6", "completed")],
)
def test_a_new_limit_holds_from_the_next_call_on(database: Database, before: str, later: str, status: str) -> None:
    # AI-08: while a run goes on; one below what is spent refuses all that follows, and a top-up goes on
    admin = new_member(database, None, "admin")
    harness = Harness(database, [[LIST_CALL], ["Four files."]])
    harness.model.usage = Usage(input_tokens=1_000_000, output_tokens=4_000)

    def settle_limit(round: int) -> None:
        with database.session(admin) as session:
            session.mandates.choose_limit(Decimal(before if round == 1 else later), None)

    ref = harness.start(new_member(database, admin.mandate_id))
    harness.drive(ref, settle_limit)
    assert harness.events(ref)[-1].data["status"] == status
    assert len(harness.model.requests) == (1 if status == "budgetExceeded" else 2)


def test_every_call_is_in_the_ledger(database: Database, principal: Principal) -> None:
    # AI-08
    harness = Harness(database, [[LIST_CALL], ["done"]])
    ref = harness.ask(principal)
    with database.session(principal) as session:
        charges = session.ledger.charges(ref.run_id)
        run = session.runs.get(ref.run_id)
        spent, _ = session.mandates.spending()
    assert [c.kind for c in charges if c.model == "private/scripted"] == ["agentRound", "agentRound"]
    assert all(charge.status == "settled" for charge in charges)
    assert sum(charge.cost_chf or 0 for charge in charges) == run.spent_chf == spent
    assert run.reserved_chf == 0


def test_call_that_never_began_costs_nothing(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[ProviderUnavailable("down")]] * 2)
    ref = harness.start(principal)
    with pytest.raises(ProviderUnavailable):
        harness.rounds.run(ref, 1, 30)
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
        assert [c.status for c in session.ledger.charges(ref.run_id) if c.kind == "agentRound"] == [
            "released",
            "released",
        ]
    assert run.spent_chf == run.reserved_chf == 0


def test_answer_that_broke_off_is_paid_as_far_as_seen(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Half an answer", ProviderUnavailable("gone")]])
    ref = harness.start(principal)
    assert harness.rounds.run(ref, 1, 30).next == "round"
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
    assert run.spent_chf > 0
    assert run.reserved_chf == 0


def test_concurrent_reservations_never_pass_the_cap(database: Database, principal: Principal) -> None:
    # AG-06: whatever the interleaving
    ref = Harness(database, []).start(principal, config={"maxCostCHF": "1"})
    purse, gate = Purse(database), threading.Barrier(8)

    def reserve(amount: Decimal) -> Decimal:
        gate.wait()
        try:
            with purse.pay(CallScope(principal, "agentRound", run_id=ref.run_id), "m", amount) as payment:
                payment.settle(amount, Usage())
        except BudgetExceeded:
            return Decimal(0)
        return amount

    with ThreadPoolExecutor(8) as pool:
        settled = sum(pool.map(reserve, [Decimal("0.3")] * 8), Decimal(0))
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
    assert settled == run.spent_chf == Decimal("0.9")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(1, 60), st.sampled_from(["settle", "release", "die"])), max_size=12))
def test_sum_of_settled_costs_stays_within_the_cap(
    database: Database, principal: Principal, calls: list[tuple[int, str]]
) -> None:
    # AG-06: property over any sequence of calls that settle, are given back, or die with their reservation
    ref = Harness(database, []).start(principal, config={"maxCostCHF": "1"})
    for centimes, fate in calls:
        _spend(database, ref.run_id, principal, Decimal(centimes) / 100, fate)
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
        charges = session.ledger.charges(ref.run_id)
    assert run.spent_chf + run.reserved_chf <= 1
    assert run.spent_chf == sum(charge.cost_chf or 0 for charge in charges)
    assert run.reserved_chf == sum(charge.reserved_chf for charge in charges if charge.status == "reserved")


def _spend(database: Database, run_id: str, principal: Principal, amount: Decimal, fate: str) -> None:
    try:
        if fate == "die":
            database.step(principal).reserve(
                Reservation(id=new_id(), amount_chf=amount, kind="agentRound", model="m", run_id=run_id)
            )
            return
        with Purse(database).pay(CallScope(principal, "agentRound", run_id=run_id), "m", amount) as payment:
            if fate == "settle":
                payment.settle(amount / 2, Usage())
    except BudgetExceeded:
        return


def test_money_of_a_dead_function_does_not_bind_the_limit_for_ever(
    database: Database, limited_principal: Principal
) -> None:
    # AI-08: the next question settles what has had nobody for longer than a function lives
    harness = Harness(database, [])
    ref = harness.start(limited_principal)
    _spend(database, ref.run_id, limited_principal, Decimal("0.4"), "die")
    _spend(database, ref.run_id, limited_principal, Decimal("0.3"), "die")
    with database.session(limited_principal) as session:
        session.connection.execute(
            "UPDATE billing_transaction SET created_at = now() - interval '1 hour' WHERE reserved_chf = 0.4"
        )
    harness.start(limited_principal)
    with database.session(limited_principal) as session:
        run = session.runs.get(ref.run_id)
        statuses = {charge.reserved_chf: charge.status for charge in session.ledger.charges(ref.run_id)}
        assert session.mandates.spending()[0] == Decimal("0.4")
    assert (run.spent_chf, run.reserved_chf) == (Decimal("0.4"), Decimal("0.3"))
    assert statuses == {Decimal("0.4"): "settled", Decimal("0.3"): "reserved"}


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["parent", "child", "grandchild", "sibling"]), st.integers(1, 60), st.booleans()),
        max_size=14,
    )
)
def test_sub_agents_draw_on_what_their_parent_has_left(
    database: Database, principal: Principal, calls: list[tuple[str, int, bool]]
) -> None:
    # AG-06: whatever the order of rounds, sub-agents' rounds and closing texts, no cap is passed
    runs = _family(database, principal)
    for name, centimes, is_closing in calls:
        scope = CallScope(principal, "agentRound", run_id=runs[name].id, is_closing=is_closing)
        with suppress(BudgetExceeded), Purse(database).pay(scope, "m", Decimal(centimes) / 100) as payment:
            payment.settle(Decimal(centimes) / 100, Usage())
    with database.session(principal) as session:
        parent, child, grandchild, sibling = (session.runs.get(runs[name].id) for name in runs)
        charges = {name: session.ledger.charges(run.id) for name, run in runs.items()}
    paid = {name: sum((charge.cost_chf or Decimal(0) for charge in own), Decimal(0)) for name, own in charges.items()}
    assert grandchild.spent_chf == paid["grandchild"]
    assert child.spent_chf == paid["child"] + paid["grandchild"] <= Decimal("0.8")
    assert parent.spent_chf == sum(paid.values()) <= 1
    assert parent.spent_chf - paid["parent"] <= Decimal("0.9"), "sub-agents leave what is kept for the closing text"
    assert sibling.spent_chf == paid["sibling"]


def _family(database: Database, principal: Principal) -> dict[str, Run]:
    """A run of 1 CHF, a part of it of 0.80 with a part of its own, and one more part; the latter two ask for more."""
    ref = Harness(database, []).start(principal, config={"maxCostCHF": "1"})
    with database.session(principal) as session:
        runs = {"parent": session.runs.get(ref.run_id)}
        for name, parent, cap in (("child", "parent", "0.8"), ("grandchild", "child", "9"), ("sibling", "parent", "9")):
            config = AgentConfig(max_cost_chf=Decimal(cap))
            runs[name] = runs["parent"].model_copy(
                update={"id": new_id(), "parent_id": runs[parent].id, "config": config}
            )
            session.runs.add(runs[name])
    return runs


def test_concurrent_sub_agents_do_not_overspend_nor_deadlock(database: Database, principal: Principal) -> None:
    # AG-06
    runs = list(_family(database, principal).values())
    gate = threading.Barrier(8)

    def spend(position: int) -> None:
        run = runs[position % len(runs)]
        gate.wait()
        for _ in range(5):
            scope = CallScope(principal, "agentRound", run_id=run.id)
            with suppress(BudgetExceeded), Purse(database).pay(scope, "m", Decimal("0.07")) as payment:
                payment.settle(Decimal("0.07"), Usage())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(spend, range(8)))
    with database.session(principal) as session:
        parent = session.runs.get(runs[0].id)
    assert (parent.spent_chf, parent.reserved_chf) == (Decimal("0.84"), Decimal(0))
