"""Every cap ends with a text, from money and time that are kept for it."""  # AG-06, AG-07

from decimal import Decimal

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.conftest import new_member
from tests.integration.knowledge.library import add_file
from werkbank.database.connection import Database
from werkbank.domain.billing import Reservation
from werkbank.domain.errors import BudgetExceeded
from werkbank.domain.ids import new_id
from werkbank.domain.messages import ToolCall, Usage
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run
from werkbank.domain.time import utc_now
from werkbank.tools.catalog import TOOLS
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import Registry, tool


def test_closing_text_is_paid_from_what_is_kept_for_it(database: Database, principal: Principal) -> None:
    # AG-06: a tenth of the cap; the next round would cost more than is left beside it
    harness = Harness(database, [[LIST_CALL], ["Two files were found so far."]])
    harness.model.usage = Usage(input_tokens=17_000, output_tokens=2_000)
    ref = harness.ask(principal, config={"maxCostCHF": "0.1"})
    (message,) = (event for event in harness.events(ref) if event.type == "message")
    with database.session(principal) as session:
        charges = session.ledger.charges(ref.run_id)
    assert harness.events(ref)[-1].data["status"] == "budgetExceeded"
    assert message.data["content"] == "Two files were found so far."
    assert [charge.kind for charge in charges if charge.model == "private/scripted"] == ["agentRound", "summary"]
    assert "used up the money" in harness.model.requests[-1].messages[-1].content


def test_too_dear_history_is_summed_up_from_an_extract(database: Database, principal: Principal) -> None:
    # AG-06: what is kept pays for a small prompt, not for all that was read
    calls = [ToolCall(id=name, name="readLong", arguments="{}") for name in "abc"]
    harness = Harness(database, [calls, ["In short."]], Registry([*TOOLS, read_long]))
    harness.model.usage = Usage(input_tokens=1_000, output_tokens=100)
    ref = harness.ask(principal, config={"maxCostCHF": "0.06"})
    (message,) = (event for event in harness.events(ref) if event.type == "message")
    assert harness.events(ref)[-1].data["status"] == "budgetExceeded"
    assert message.data["content"] == "In short."
    assert len(harness.model.requests[-1].messages) == 2


def test_mandates_limit_leaves_something_for_the_closing_text(database: Database, limited_principal: Principal) -> None:
    # AG-06, AG-07: a run without a cap of its own
    harness = Harness(database, [[LIST_CALL], ["As far as the money went."]])
    harness.model.usage = Usage(input_tokens=280_000, output_tokens=3_000)
    ref = harness.ask(limited_principal)
    (message,) = (event for event in harness.events(ref) if event.type == "message")
    assert harness.events(ref)[-1].data["status"] == "budgetExceeded"
    assert message.data["content"] == "As far as the money went."


@pytest.mark.parametrize(
    ("limit", "cap", "kept"),
    [(None, None, "0.1"), ("100", None, "0.1"), ("0.5", None, "0.05"), ("0", None, "0"), ("100", "4", "0.4"),
     ("2", "4", "0.2"), (None, "4", "0.4"), ("1", "0", "0")],
)  # fmt: skip
def test_kept_for_closing(database: Database, limit: str | None, cap: str | None, kept: str) -> None:
    # AG-06: a tenth of the cap, but no more than a tenth of what the mandate has left
    member = new_member(database, None, "admin")
    with database.session(member) as session:
        session.mandates.choose_limit(Decimal(limit) if limit else None, None)
    ref = Harness(database, []).start(member, config={"maxCostCHF": cap})
    with database.session(member) as session:
        assert session.runs.get(ref.run_id).closing_chf == Decimal(kept)


def test_of_the_mandates_limit_only_the_closing_text_takes_what_is_kept(
    database: Database, limited_principal: Principal
) -> None:
    # AG-06
    ref = Harness(database, []).start(limited_principal)
    step = database.step(limited_principal)
    left = [step.preflight(ref.run_id, is_closing=is_closing).remaining_chf for is_closing in (False, True)]
    assert left == [Decimal("0.9"), Decimal("1")]

    def reserve(*, is_closing: bool) -> None:
        step.reserve(
            Reservation(
                id=new_id(), amount_chf=Decimal("0.95"), kind="summary", model="m", run_id=ref.run_id,
                is_closing=is_closing,
            )
        )  # fmt: skip

    with pytest.raises(BudgetExceeded, match="organisation"):
        reserve(is_closing=False)
    reserve(is_closing=True)


def test_indexing_keeps_nothing_for_a_text_it_never_writes(database: Database, limited_principal: Principal) -> None:
    file_id = add_file(database, limited_principal, "A lease.")
    run = Run(
        id=new_id(), mandate_id=limited_principal.mandate_id, user_id=limited_principal.user_id, kind="index",
        file_id=file_id, started_at=utc_now(),
    )  # fmt: skip
    with database.session(limited_principal) as session:
        session.runs.add(run)
        assert session.runs.get(run.id).closing_chf == 0


@tool(read_only=True)
def read_long(context: ToolContext) -> str:
    """Read more than the rest of the money pays to look at again."""
    return "A long line of a long file. " * 10_000


def test_run_ends_after_its_working_time(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[LIST_CALL], ["As far as I got."]])
    ref = harness.start(principal, config={"maxMinutes": 30})

    def let_time_pass(round: int) -> None:
        with database.session(principal) as session:
            session.connection.execute("UPDATE run SET started_at = now() - interval '31 minutes'")

    harness.drive(ref, before_round=let_time_pass)
    events = harness.events(ref)
    (message,) = (event for event in events if event.type == "message")
    assert events[-1].data["status"] == "timedOut"
    assert message.data["content"] == "As far as I got."
    assert "used up the time" in harness.model.requests[-1].messages[-1].content


def test_waiting_for_the_user_is_no_working_time(database: Database, principal: Principal) -> None:
    # AG-24: for days if need be
    harness = Harness(database, [[LIST_CALL], ["The answer."]])
    ref = harness.start(principal, config={"maxMinutes": 30})

    def let_days_pass(round: int) -> None:
        if round == 2:
            return
        with database.session(principal) as session:
            session.connection.execute("UPDATE run SET started_at = now() - interval '3 days'")

    def wait() -> None:
        with database.session(principal) as session:
            session.connection.execute("UPDATE tool_call SET asked_at = claimed_at - interval '3 days'")

    while (verdict := harness.budget.check(ref)).next == "round":
        let_days_pass(verdict.round)
        step = harness.rounds.run(ref, verdict.round, 30)
        if step.next == "finish":
            break
        harness.run_tools(ref, step)
        wait()
    assert (verdict.next, step.status) == ("round", "completed")
