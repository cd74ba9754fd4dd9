"""What was spent, by what it was for (AI-08)."""

from decimal import Decimal

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.conftest import new_member
from werkbank.billing.purse import CallScope, Purse
from werkbank.database.connection import Database
from werkbank.domain.billing import UsageDimension, UsageTotal
from werkbank.domain.errors import NotFound
from werkbank.domain.ids import new_id
from werkbank.domain.messages import Usage
from werkbank.domain.principal import Principal
from werkbank.domain.time import utc_now


def new_instance(database: Database, *members: Principal) -> str:
    """A feature instance of the members' mandate."""
    instance_id = new_id()
    for position, member in enumerate(members):
        admin = member.model_copy(update={"roles": frozenset({"admin"})})
        with database.session(admin) as session:
            if position == 0:
                session.connection.execute(
                    "INSERT INTO feature_instance (id, mandate_id, feature_code, label)"
                    " VALUES (%s, %s, 'chatbot', 'Help')",
                    (instance_id, admin.mandate_id),
                )
            session.connection.execute(
                "INSERT INTO feature_instance_member (instance_id, mandate_id, user_id) VALUES (%s, %s, %s)",
                (instance_id, admin.mandate_id, admin.user_id),
            )
    return instance_id


def totals(database: Database, principal: Principal, by: UsageDimension) -> dict[str | None, UsageTotal]:
    with database.session(principal) as session:
        return {total.id: total for total in session.ledger.totals(by, None)}


def spent(database: Database, principal: Principal) -> Decimal:
    with database.session(principal) as session:
        return session.mandates.spending()[0]


def test_every_dimension_adds_up_to_what_the_mandate_spent(database: Database) -> None:
    admin = new_member(database, None, "admin")
    member = new_member(database, admin.mandate_id)
    instance_id = new_instance(database, member)
    harness = Harness(database, [[LIST_CALL], ["Done."], ["Done."], ["Done."]])
    runs = [harness.ask(member, "One?"), harness.ask(member, "Two?", instanceId=instance_id), harness.ask(admin, "3?")]
    with Purse(database).pay(CallScope(member, "image"), "openai/pictures", Decimal(1)) as payment:
        payment.settle(Decimal("0.25"), Usage(input_tokens=7))
    with database.session(member) as session:
        first, second = (session.runs.get(run.run_id) for run in runs[:2])
    for by in ("workflow", "user", "instance", "model"):
        found = totals(database, admin, by)
        assert sum(total.cost_chf for total in found.values()) == spent(database, admin) > Decimal("0.25"), by
    by_workflow = totals(database, admin, "workflow")
    assert by_workflow[first.workflow_id].cost_chf == first.spent_chf
    assert by_workflow[None].cost_chf == Decimal("0.25")
    instance = totals(database, admin, "instance")[instance_id]
    assert (instance.label, instance.cost_chf) == ("Help", second.spent_chf)
    members = totals(database, admin, "user")[member.user_id]
    assert members.cost_chf == first.spent_chf + second.spent_chf + Decimal("0.25")
    assert totals(database, admin, "model")["openai/pictures"].input_tokens == 7


def test_others_see_their_own_alone_and_no_titles_of_anybody_else(database: Database) -> None:
    admin = new_member(database, None, "admin")
    member, colleague = new_member(database, admin.mandate_id), new_member(database, admin.mandate_id)
    harness = Harness(database, [["Done."], ["Done."]])
    harness.ask(member, "What do I earn?")
    harness.ask(colleague, "What does she earn?")
    assert set(totals(database, member, "user")) == {member.user_id}
    assert [total.label for total in totals(database, member, "workflow").values()] == ["What do I earn?"]
    assert [total.label for total in totals(database, admin, "workflow").values()] == [None, None]


def test_what_is_older_is_left_out(database: Database, principal: Principal) -> None:
    Harness(database, [["Done."]]).ask(principal)
    with database.session(principal) as session:
        assert session.ledger.totals("user", utc_now()) == ()
        assert len(session.ledger.totals("user", None)) == 1


def test_nobody_asks_on_behalf_of_an_instance_of_others(database: Database, principal: Principal) -> None:
    # TB-04: not of the same mandate, nor of another one
    harness = Harness(database, [])
    for others in (new_member(database, principal.mandate_id), new_member(database)):
        with pytest.raises(NotFound, match="not a member"):
            harness.start(principal, instanceId=new_instance(database, others))
