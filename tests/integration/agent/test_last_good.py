"""A configuration that breaks falls back to the last that answered, and the run says so (AG-13)."""

from typing import get_args

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_faults import WEAKER
from tests.integration.agent.test_rights import allow
from tests.integration.agent.test_routing import trace
from tests.integration.conftest import new_member
from tests.scripted_model import SCRIPTED, Piece, ScriptedModel
from werkbank.ai.keys import LoadedKeys, ModelKeys, Stage, load_keys
from werkbank.ai.last_good import Connected
from werkbank.ai.model import Model
from werkbank.ai.protocols import Providers
from werkbank.database.connection import Database
from werkbank.domain.errors import InvalidInput, ModelNotFound, ProviderRefused, ProviderUnavailable
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef

GONE = SCRIPTED.model_copy(update={"id": "private/gone"})
Script = list[list[Piece]]


def keys(version: str, **fields: str) -> LoadedKeys:
    return LoadedKeys(ModelKeys.model_validate(fields), version)


def answered(database: Database, principal: Principal, model: Model = SCRIPTED) -> None:
    """Let a model answer once under the first version of the keys."""
    Harness(database, [["Before."]], model=model, keys=keys("v1", privateLlmUrl="http://old")).ask(principal)


def stand_ins(harness: Harness, ref: RunRef) -> list[tuple[object, object]]:
    """Return what the run's stored events tell of stand-ins."""
    told = [event.data for event in harness.events(ref) if event.data.get("status") == "lastGood"]
    assert [event.data for event in harness.pushed.of_type("status")][-len(told) :] == told or not told
    return [(data["insteadOf"], data["model"]) for data in told]


def test_fixed_model_that_is_gone_is_replaced_visibly_and_once(database: Database, principal: Principal) -> None:
    answered(database, principal)
    harness = Harness(database, [[LIST_CALL], ["Done."]])
    ref = harness.ask(principal, config={"model": "openai/gpt-1"})
    assert harness.events(ref)[-1].data["status"] == "completed"
    assert stand_ins(harness, ref) == [("openai/gpt-1", SCRIPTED.id)]
    rounds = trace(database, ref).rounds
    assert [(log.model, log.instead_of) for log in rounds] == [(SCRIPTED.id, "openai/gpt-1")] * 2


def test_fixed_model_that_its_provider_does_not_know_is_replaced(database: Database, principal: Principal) -> None:
    answered(database, principal)
    script: Script = [[ModelNotFound("gone")], [LIST_CALL], ["Done."]]
    harness = Harness(database, script, model=GONE)
    ref = harness.ask(principal, config={"model": GONE.id})
    assert stand_ins(harness, ref) == [(GONE.id, SCRIPTED.id)]
    # the broken choice is not tried again in every round
    assert len(harness.model.requests) == 3


def test_configured_model_that_does_not_exist_is_replaced(database: Database, principal: Principal) -> None:
    answered(database, principal)
    harness = Harness(database, [["Done."]], keys=keys("v2", agentModel="anthropic/claude-typo"))
    assert stand_ins(harness, harness.ask(principal)) == [("anthropic/claude-typo", SCRIPTED.id)]


def test_configured_model_answers_and_the_users_choice_outranks_it(database: Database, principal: Principal) -> None:
    # AG-18
    configured = keys("v1", agentModel=WEAKER.id)
    harness = Harness(database, [["Mine."]], stand_in=(WEAKER, ScriptedModel([["Theirs."]])), keys=configured)
    refs = [harness.ask(principal), harness.ask(principal, config={"model": SCRIPTED.id})]
    assert [trace(database, ref).rounds[0].model for ref in refs] == [WEAKER.id, SCRIPTED.id]


def test_model_that_the_registry_lost_goes_on_as_it_was_described(database: Database, principal: Principal) -> None:
    answered(database, principal)
    unable = GONE.model_copy(update={"ratings": {}})
    harness = Harness(database, [["Done."]], model=unable)
    ref = harness.ask(principal)
    assert stand_ins(harness, ref) == [("agent", SCRIPTED.id)]
    with database.session(principal) as session:
        (charge,) = [charge for charge in session.ledger.charges(ref.run_id) if charge.kind == "agentRound"]
    assert charge.model == SCRIPTED.id
    assert charge.cost_chf


def test_without_anything_good_a_missing_model_is_refused_in_words(database: Database, principal: Principal) -> None:
    answered(database, new_member(database))  # another mandate's is nobody else's
    harness = Harness(database, [])
    ref = harness.start(principal, config={"model": "openai/gpt-1"})
    with pytest.raises(InvalidInput, match="gpt-1"):
        harness.rounds.run(ref, 1, 30)


def test_rights_are_never_passed_by(database: Database) -> None:
    admin = new_member(database, None, "admin")
    answered(database, admin)
    allow(database, admin, "", ["anthropic"])
    harness = Harness(database, [])
    ref = harness.start(admin, config={"model": "openai/gpt-1"})
    with pytest.raises(InvalidInput):
        harness.rounds.run(ref, 1, 30)
    assert harness.model.requests == []


def test_changed_address_that_leads_nowhere_is_left_for_the_one_before(
    database: Database, principal: Principal
) -> None:
    answered(database, principal)
    before = ScriptedModel([["From the old address."]])
    earlier = {"v1": Connected(ModelKeys(private_llm_url="http://old"), "v1", Providers(chat={"private": before}))}
    down: Script = [[ProviderUnavailable("down")]] * 2
    harness = Harness(database, down, keys=keys("v2", privateLlmUrl="http://wrong"), earlier=earlier)
    assert stand_ins(harness, harness.ask(principal)) == [(SCRIPTED.id, SCRIPTED.id)]
    assert len(before.requests) == 1


@pytest.mark.parametrize("model", [SCRIPTED, GONE])
def test_address_that_leads_nowhere_is_tried_once_a_run(
    database: Database, principal: Principal, model: Model
) -> None:  # AI-07, also where another model is expected at the new address
    answered(database, principal)
    before = ScriptedModel([[LIST_CALL], ["From the old address."]])
    earlier = {"v1": Connected(ModelKeys(private_llm_url="http://old"), "v1", Providers(chat={"private": before}))}
    down: Script = [[ProviderUnavailable("down")]] * 2
    loaded = keys("v2", privateLlmUrl="http://wrong")
    # every round may be another process
    first, second = (Harness(database, down, model=model, keys=loaded, earlier=earlier) for _ in range(2))
    ref = first.start(principal)
    first.run_tools(ref, first.rounds.run(ref, 1, 30))
    second.drive(ref)
    assert second.events(ref)[-1].data["status"] == "completed"
    assert (len(before.requests), len(first.model.requests), second.model.requests) == (2, 2, [])
    assert (first.pauses, second.pauses) == ([2.0], [])
    assert stand_ins(first, ref) == [(model.id, SCRIPTED.id)]
    assert [log.answered_under for log in trace(database, ref).rounds] == ["v1", "v1"]


def test_earlier_address_is_left_as_soon_as_the_new_one_has_answered(database: Database, principal: Principal) -> None:
    answered(database, principal)
    before = ScriptedModel([[LIST_CALL]])
    earlier = {"v1": Connected(ModelKeys(private_llm_url="http://old"), "v1", Providers(chat={"private": before}))}
    loaded = keys("v2", privateLlmUrl="http://new")
    down: Script = [[ProviderUnavailable("down")]] * 2
    harness = Harness(database, [*down, ["Of another run."], ["From the new address."]], keys=loaded, earlier=earlier)
    ref = harness.start(principal)
    step = harness.rounds.run(ref, 1, 30)
    harness.ask(principal)
    harness.run_tools(ref, step)
    harness.drive(ref)
    assert [log.answered_under for log in trace(database, ref).rounds] == ["v1", None]


def test_stand_in_that_fails_leaves_the_run_to_the_new_address(database: Database, principal: Principal) -> None:
    answered(database, principal)
    down: Script = [[ProviderUnavailable("down")]] * 2
    before = ScriptedModel([[LIST_CALL], *down])
    earlier = {"v1": Connected(ModelKeys(private_llm_url="http://old"), "v1", Providers(chat={"private": before}))}
    loaded = keys("v2", privateLlmUrl="http://new")
    harness = Harness(database, [*down, ["From the new address."]], keys=loaded, earlier=earlier)
    ref = harness.ask(principal)
    assert harness.events(ref)[-1].data["status"] == "completed"
    assert [log.answered_under for log in trace(database, ref).rounds] == ["v1", None]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_address_that_is_the_same_is_only_down(database: Database, principal: Principal, version: str) -> None:
    answered(database, principal)
    before = ScriptedModel([])
    earlier = {"v1": Connected(ModelKeys(private_llm_url="http://old"), "v1", Providers(chat={"private": before}))}
    down: Script = [[ProviderUnavailable("down")]] * 2
    harness = Harness(database, down, keys=keys(version, privateLlmUrl="http://old"), earlier=earlier)
    ref = harness.start(principal)
    with pytest.raises(ProviderUnavailable):
        harness.rounds.run(ref, 1, 30)


def test_replaced_key_is_never_used_again(database: Database, principal: Principal) -> None:
    # AG-11: its failure goes to the user at once
    answered(database, principal)
    before = ScriptedModel([])
    earlier = {"v1": Connected(ModelKeys(private_llm_url="http://old"), "v1", Providers(chat={"private": before}))}
    harness = Harness(
        database, [[ProviderRefused("bad key")]], keys=keys("v2", privateLlmUrl="http://new"), earlier=earlier
    )
    ref = harness.start(principal)
    with pytest.raises(ProviderRefused):
        harness.rounds.run(ref, 1, 30)


@pytest.mark.parametrize(("version", "stands_in"), [("v2", True), ("v1", False)])
def test_new_provider_that_refuses_falls_back_only_when_the_keys_have_just_changed(
    database: Database, principal: Principal, version: str, stands_in: bool
) -> None:
    answered(database, principal)
    refusing = ScriptedModel([[ProviderRefused("bad key")]])
    configured = keys(version, agentModel=WEAKER.id)
    harness = Harness(database, [["Done."]], stand_in=(WEAKER, refusing), keys=configured)
    ref = harness.start(principal, workflowId=new_id())
    if stands_in:
        harness.drive(ref)
        assert stand_ins(harness, ref) == [(WEAKER.id, SCRIPTED.id)]
    else:
        with pytest.raises(ProviderRefused):
            harness.rounds.run(ref, 1, 30)


def test_run_with_the_keys_from_before_says_so_once(database: Database, principal: Principal) -> None:
    loaded = LoadedKeys(ModelKeys(), "v1", is_stand_in=True)
    harness = Harness(database, [[LIST_CALL], ["Done."]], keys=loaded)
    ref = harness.ask(principal)
    told = [event.data for event in harness.events(ref) if event.data.get("status") == "earlierKeys"]
    assert [data["model"] for data in told] == [SCRIPTED.id]


def test_nothing_that_is_kept_holds_a_key(database: Database, principal: Principal) -> None:
    loaded = LoadedKeys(ModelKeys.model_validate({"privateLlmApiKey": "sk-secret", "privateLlmUrl": "http://x"}), "v1")
    Harness(database, [["Done."]], keys=loaded).ask(principal)
    with database.session(principal) as session:
        rows = session.connection.execute("SELECT good_model::text AS row FROM good_model").fetchall()
    assert len(rows) == 1
    assert "sk-secret" not in rows[0]["row"]


@pytest.mark.parametrize(
    ("current", "previous", "version", "is_stand_in"),
    [
        ('{"openaiApiKey": "b"}', '{"openaiApiKey": "a"}', "AWSCURRENT", False),
        ("{not json", '{"openaiApiKey": "a"}', "AWSPREVIOUS", True),
        ('{"privateLlmContextWindow": "many"}', '{"openaiApiKey": "a"}', "AWSPREVIOUS", True),
        ("[]", None, "", True),
        ("{}", '{"openaiApiKey": "a"}', "AWSCURRENT", False),  # an entry that was taken out stays out
    ],
)
def test_unreadable_keys_are_those_of_the_version_before(
    current: str, previous: str | None, version: str, is_stand_in: bool
) -> None:
    texts = {"AWSCURRENT": current, "AWSPREVIOUS": previous}
    assert set(texts) == set(get_args(Stage))

    def read(stage: Stage) -> tuple[str, str] | None:
        text = texts[stage]
        return None if text is None else (text, stage)

    loaded = load_keys(read)
    assert (loaded.version, loaded.is_stand_in) == (version, is_stand_in)
    assert (loaded.keys.openai_api_key is None) == (version == "" or current == "{}")
