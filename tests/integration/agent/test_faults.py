"""What follows a provider's fault, by its class (AG-11, AI-03, AI-07): the conversation stays valid whatever it is."""

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_run import assert_well_formed
from tests.scripted_model import SCRIPTED, Piece, ScriptedModel, Stop
from werkbank.agent.round import MAX_OUTPUT_TOKENS
from werkbank.ai.model import Capability
from werkbank.ai.protocols import StopReason
from werkbank.database.connection import Database
from werkbank.domain.errors import (
    AnswerDeclined,
    DeadlineTooNear,
    EmptyAnswer,
    IncompleteStream,
    ModelNotFound,
    PromptTooLong,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    ToolsUnsupported,
)
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal

WEAKER = SCRIPTED.model_copy(
    update={
        "id": "anthropic/weaker",
        "provider": "anthropic",
        "ratings": dict.fromkeys(SCRIPTED.ratings, 1),
    }
)


def completed(harness: Harness, principal: Principal) -> str:
    """Ask, and return the answer of a run that must complete."""
    events = harness.events(harness.ask(principal))
    assert_well_formed(events)
    assert events[-1].data["status"] == "completed"
    (message,) = (event for event in events if event.type == "message")
    return str(message.data["content"])


@pytest.mark.parametrize(
    ("error", "waited"),
    [
        (RateLimited("slow down", 7.5), 7.5),
        (RateLimited("slow down"), 5.0),
        (ProviderUnavailable("down"), 2.0),
        (IncompleteStream("cut"), 2.0),
    ],
)
def test_passing_fault_is_waited_for_once(
    database: Database, principal: Principal, error: ProviderError, waited: float
) -> None:
    harness = Harness(database, [[error], ["Here I am."]])
    assert completed(harness, principal) == "Here I am."
    assert harness.pauses == [waited]


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (RateLimited("slow down", 1), 2),
        (RateLimited("come back tomorrow", 86_400), 1),
        (ProviderUnavailable("down"), 2),
        (ModelNotFound("gone"), 1),
        (PromptTooLong("too long"), 1),
    ],
)
def test_another_model_takes_over(database: Database, principal: Principal, error: ProviderError, tries: int) -> None:
    stand_in = ScriptedModel([["From the other one."]])
    harness = Harness(database, [[error]] * tries, stand_in=(WEAKER, stand_in))
    assert completed(harness, principal) == "From the other one."
    assert (len(harness.model.requests), len(stand_in.requests)) == (tries, 1)


@pytest.mark.parametrize("error", [ProviderRefused("no credit"), RequestRejected("nonsense")])
def test_what_only_a_person_can_mend_goes_to_the_user_at_once(
    database: Database, principal: Principal, error: ProviderError
) -> None:
    harness = Harness(database, [[error]], stand_in=(WEAKER, ScriptedModel([])))
    ref = harness.start(principal)
    with pytest.raises(type(error)):
        harness.rounds.run(ref, 1, 30)
    assert harness.pauses == []


@pytest.mark.parametrize("nothing", [[], [Stop("length")], [Stop("other")], [Stop("pause")], ["\n"]])
def test_an_answer_with_nothing_in_it_is_asked_for_again(
    database: Database, principal: Principal, nothing: list[Piece]
) -> None:
    # AG-07: never silence
    harness = Harness(database, [nothing, ["Here I am."]])
    ref = harness.start(principal)
    step = harness.rounds.run(ref, 1, 30)
    if step.next == "round":  # what was shown of it is nothing that one could read, but it was shown
        step = harness.rounds.run(ref, 1, 30)
    assert step.status == "completed"
    with database.session(principal) as session:
        answer = session.messages.last_answer(ref.run_id)
        charges = session.ledger.charges(ref.run_id)
    assert answer
    assert answer.content == "Here I am."
    assert [charge.status for charge in charges if charge.kind == "agentRound"] == ["settled", "settled"]


def test_a_model_that_never_says_anything_is_replaced_then_told_of(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[Stop("length")]] * 2, stand_in=(WEAKER, ScriptedModel([["From the other one."]])))
    assert completed(harness, principal) == "From the other one."
    harness = Harness(database, [[Stop("length")]] * 2)
    ref = harness.start(principal)
    with pytest.raises(EmptyAnswer, match="longest answer"):
        harness.rounds.run(ref, 1, 30)
    harness.fail(ref, "EmptyAnswer")
    last = harness.events(ref)[-1]
    assert (last.type, last.data["title"], last.data["retryable"]) == ("error", "The model gave no answer", True)


def test_a_model_that_declines_is_not_asked_again(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[Stop("refusal")]], stand_in=(WEAKER, ScriptedModel([])))
    ref = harness.start(principal)
    with pytest.raises(AnswerDeclined, match="declined"):
        harness.rounds.run(ref, 1, 30)


@pytest.mark.parametrize("reason", ["length", "refusal"])
def test_an_answer_that_the_model_breaks_off_says_so(
    database: Database, principal: Principal, reason: StopReason
) -> None:
    harness = Harness(database, [["Half an ans", Stop(reason)], ["Go on."]])
    ref = harness.ask(principal)
    events = harness.events(ref)
    assert (events[-1].type, events[-1].data["status"]) == ("complete", "truncated")
    with database.session(principal) as session:
        answer = session.messages.last_answer(ref.run_id)
        assert session.runs.get(ref.run_id).status == "truncated"
    assert answer
    assert (answer.content, answer.partial) == ("Half an ans", True)
    workflow_id = events[-1].data["workflowId"]
    assert completed_after(harness, principal, workflow_id) == "Go on."


def completed_after(harness: Harness, principal: Principal, workflow_id: object) -> str:
    events = harness.events(harness.ask(principal, "Go on", workflowId=workflow_id))
    assert events[-1].data["status"] == "completed"
    return str(next(event for event in events if event.type == "message").data["content"])


def test_what_a_model_may_think_comes_on_top_of_what_it_is_to_say(database: Database, principal: Principal) -> None:
    # AI-04: thinking counts as output
    thinker = SCRIPTED.model_copy(
        update={"capabilities": SCRIPTED.capabilities | {Capability.REASONING}, "max_output_tokens": 100_000}
    )
    for model, most in ((SCRIPTED, SCRIPTED.max_output_tokens), (thinker, MAX_OUTPUT_TOKENS + 8_192)):
        harness = Harness(database, [["Here I am."]], model=model)
        harness.ask(principal)
        assert harness.model.requests[0].max_output_tokens == most
    poor = Harness(database, [["Here I am."]], model=thinker)
    ref = poor.ask(principal, config={"maxCostCHF": "0.02"})
    assert poor.events(ref)[-1].data["status"] == "budgetExceeded", "with a thousand tokens it would only think"


def test_fault_that_stays_ends_in_its_own_class(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[ProviderUnavailable("down")]] * 2)
    ref = harness.start(principal)
    with pytest.raises(ProviderUnavailable):
        harness.rounds.run(ref, 1, 30)


def test_wait_beyond_the_functions_time_is_left_to_a_fresh_one(database: Database, principal: Principal) -> None:
    limited = [RateLimited("slow down", 59)]
    harness = Harness(database, [limited, limited, ["Here I am."]])
    ref = harness.start(principal)
    assert harness.rounds.run(ref, 1, 30).next == "round"
    assert harness.pauses == []
    assert harness.rounds.run(ref, 1, 100).status == "completed"
    assert harness.pauses == [59]


def test_stand_in_without_time_is_left_to_a_fresh_function(database: Database, principal: Principal) -> None:
    stand_in = ScriptedModel([])
    down = [ProviderUnavailable("down")]
    seconds_a_call = 13.0
    harness = Harness(
        database,
        [down, down, ["Here I am."]],
        stand_in=(WEAKER, stand_in),
        clock=lambda: seconds_a_call * len(harness.model.requests),
    )
    ref = harness.start(principal)
    assert harness.rounds.run(ref, 1, 30).next == "round"
    assert harness.rounds.run(ref, 1, 30).status == "completed"


def test_try_that_was_left_out_is_not_forgotten_when_the_stand_in_fails_too(
    database: Database, principal: Principal
) -> None:
    down = [ProviderUnavailable("down")]
    stand_in = ScriptedModel([down, down])
    limited = [RateLimited("slow down", 59)]
    harness = Harness(database, [limited, ["Here I am."]], stand_in=(WEAKER, stand_in))
    ref = harness.start(principal)
    assert harness.rounds.run(ref, 1, 30).next == "round"
    assert harness.rounds.run(ref, 1, 100).status == "completed"


def test_round_without_time_for_the_model_is_begun_by_a_fresh_function(
    database: Database, principal: Principal
) -> None:
    harness = Harness(database, [["Here I am."]])
    ref = harness.start(principal)
    assert harness.rounds.run(ref, 1, 10).next == "round"
    assert harness.model.requests == []
    assert harness.rounds.run(ref, 1, 30).status == "completed"


def test_handing_over_has_an_end(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[RateLimited("slow down", 59)]] * 3)
    ref = harness.start(principal)
    assert [harness.rounds.run(ref, 1, 30).next for _ in range(2)] == ["round", "round"]
    with pytest.raises(DeadlineTooNear, match="slow down"):
        harness.rounds.run(ref, 1, 30)
    harness.fail(ref, "DeadlineTooNear")
    assert harness.events(ref)[-1].data["title"] == "The model did not answer in time"


def test_model_without_tools_is_asked_again_at_once_and_told_of_them_in_words(
    database: Database, principal: Principal
) -> None:
    # AI-07, AG-02: remembered, so that the next call does not try again
    harness = Harness(database, [[ToolsUnsupported("no tools")], ["In words."], ["Again."]])
    assert completed(harness, principal) == "In words."
    assert completed(harness, principal) == "Again."
    assert harness.pauses == []
    assert [bool(request.tools) for request in harness.model.requests] == [True, False, False]
    assert ["listFiles: " in request.messages[0].content for request in harness.model.requests] == [False, True, True]


def test_model_is_offered_tools_again_once_its_server_may_have_been_mended(
    database: Database, principal: Principal
) -> None:
    # AI-07
    now = [0.0]
    answers: list[list[Piece]] = [
        [ToolsUnsupported("no tools")],
        ["In words."],
        ["Again."],
        [LIST_CALL],
        ["With tools."],
    ]
    harness = Harness(database, answers, clock=lambda: now[0])
    assert completed(harness, principal) == "In words."
    now[0] += 600
    assert completed(harness, principal) == "Again."
    now[0] += 600
    harness.ask(principal)
    assert [bool(request.tools) for request in harness.model.requests] == [True, False, False, True, True]


def test_answer_that_breaks_off_is_begun_anew(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Half of ", IncompleteStream("cut")], ["The whole answer."]])
    ref = harness.ask(principal)
    events = harness.events(ref)
    assert_well_formed(events)
    chunks = [(event.data["attempt"], event.data["text"]) for event in events if event.type == "chunk"]
    assert chunks == [(1, "Half of "), (2, "The whole answer.")]
    assert events[-1].data["status"] == "completed"


def test_answer_that_keeps_breaking_off_is_given_up(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Half of ", IncompleteStream("cut")]] * 3)
    ref = harness.start(principal)
    assert [harness.rounds.run(ref, 1, 30).next for _ in range(2)] == ["round", "round"]
    with pytest.raises(IncompleteStream):
        harness.rounds.run(ref, 1, 30)


@pytest.mark.parametrize("position", range(4))
def test_fault_at_any_point_leaves_a_valid_conversation(
    database: Database, principal: Principal, position: int
) -> None:
    # whatever was on its way when the provider refused, the next question works
    pieces: list[Piece] = ["I will ", "look: ", LIST_CALL, LIST_CALL.model_copy(update={"id": "b"})]
    broken = [*pieces[:position], ProviderRefused("no credit")]
    workflow_id = new_id()
    harness = Harness(database, [broken, ["All is well."]])
    ref = harness.start(principal, workflowId=workflow_id)
    with pytest.raises(ProviderRefused):
        harness.drive(ref)
    harness.fail(ref, "ProviderRefused")
    assert_well_formed(harness.events(ref))
    following = harness.ask(principal, "And now?", workflowId=workflow_id)
    assert harness.events(following)[-1].data["status"] == "completed"


def test_failed_run_keeps_the_text_written_so_far(database: Database, principal: Principal) -> None:
    # AG-19, AG-20
    harness = Harness(database, [["Half an answer.", ProviderRefused("no credit")]])
    ref = harness.start(principal)
    with pytest.raises(ProviderRefused):
        harness.drive(ref)
    harness.fail(ref, "ProviderRefused")
    events = harness.events(ref)
    assert events[-1].type == "error"
    assert [event.data["content"] for event in events if event.type == "message"] == ["Half an answer."]
    with database.session(principal) as session:
        answer = session.messages.last_answer(ref.run_id)
    assert answer
    assert (answer.content, answer.partial) == ("Half an answer.", True)
