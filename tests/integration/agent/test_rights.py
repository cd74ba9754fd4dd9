"""Provider and model rights of a mandate and its roles (AI-05, TB-04)."""

import pytest

from tests.integration.agent.harness import Harness
from tests.integration.agent.test_faults import WEAKER
from tests.integration.conftest import new_member
from tests.scripted_model import SCRIPTED, ScriptedModel
from werkbank.ai.operations import Operation
from werkbank.billing.purse import CallScope
from werkbank.database.connection import Database
from werkbank.domain.errors import Forbidden, InvalidInput, UserError
from werkbank.domain.principal import Principal


def allow(database: Database, admin: Principal, role: str, providers: list[str] | None) -> None:
    with database.session(admin) as session:
        session.connection.execute(
            "INSERT INTO model_right (mandate_id, role, providers) VALUES (%s, %s, %s)",
            (admin.mandate_id, role, providers),
        )


def test_only_allowed_providers_are_asked(database: Database) -> None:
    admin = new_member(database, None, "admin")
    member = new_member(database, admin.mandate_id)
    allow(database, admin, "", ["anthropic"])
    allowed = ScriptedModel([["Allowed."]])
    harness = Harness(database, [], stand_in=(WEAKER, allowed))
    ref = harness.ask(member)
    assert harness.events(ref)[-1].data["status"] == "completed"
    assert (len(harness.model.requests), len(allowed.requests)) == (0, 1)


def test_role_adds_to_what_everyone_may_use(database: Database) -> None:
    admin = new_member(database, None, "admin")
    researcher = new_member(database, admin.mandate_id, "research")
    member = new_member(database, admin.mandate_id)
    allow(database, admin, "", ["anthropic"])
    allow(database, admin, "research", None)
    harness = Harness(database, [], stand_in=(WEAKER, ScriptedModel([])))

    def choices(principal: Principal) -> set[str]:
        return {model.id for model in harness.ai.models_for(CallScope(principal, "agentRound"), Operation.AGENT)}

    assert choices(member) == {WEAKER.id}
    assert choices(researcher) == {WEAKER.id, SCRIPTED.id}


def test_choosing_a_model_one_may_not_use_is_refused_in_words(database: Database) -> None:
    admin = new_member(database, None, "admin")
    allow(database, admin, "", ["anthropic"])
    harness = Harness(database, [], stand_in=(WEAKER, ScriptedModel([])))
    ref = harness.start(admin, config={"model": SCRIPTED.id})
    with pytest.raises(InvalidInput, match="not available"):
        harness.rounds.run(ref, 1, 30)


def test_nothing_allowed_is_said(database: Database) -> None:
    admin = new_member(database, None, "admin")
    allow(database, admin, "", [])
    harness = Harness(database, [])
    ref = harness.start(admin)
    with pytest.raises(UserError, match="No available model"):
        harness.rounds.run(ref, 1, 30)


def test_only_administrators_grant_rights(database: Database) -> None:
    member = new_member(database)
    with pytest.raises(Forbidden):
        allow(database, member, "", None)
