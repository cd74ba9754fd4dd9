"""The loop with a model that takes no tools (AG-02, AI-07): it calls them in its text, real tools answer."""

import pytest

from tests.integration.agent.harness import Harness
from tests.integration.agent.test_run import assert_well_formed
from tests.integration.agent.test_web import PAGE, WEB
from tests.scripted_model import SCRIPTED, Piece, ScriptedModel
from werkbank.ai.call_blocks import call_block, result_block
from werkbank.ai.model import Capability
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderUnavailable, ToolsUnsupported
from werkbank.domain.marking import as_data, data_in
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef
from werkbank.domain.trace import ToolCallLog

TOOLLESS = SCRIPTED.model_copy(update={"capabilities": SCRIPTED.capabilities - {Capability.TOOLS}})
NATIVE = SCRIPTED.model_copy(
    update={"id": "anthropic/weaker", "provider": "anthropic", "ratings": dict.fromkeys(SCRIPTED.ratings, 1)}
)
WRITE = call_block("writeFile", '{"name": "notes.md", "content": "Hello", "mode": "create"}')
# In pieces that cut the tag.
CALLING: list[Piece] = ["I write it ", "down.\n<werk", WRITE[5:20], WRITE[20:-4], WRITE[-4:]]


def calls_of(harness: Harness, ref: RunRef) -> list[ToolCallLog]:
    with harness.database.session(ref.principal) as session:
        return list(session.tool_calls.of_run(ref.run_id))


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "noticed"])
def test_two_rounds_with_a_real_tool(database: Database, principal: Principal, is_known: bool) -> None:
    noticed: list[list[Piece]] = [] if is_known else [[ToolsUnsupported("no endpoints support tool use")]]
    harness = Harness(database, [*noticed, CALLING, ["It is in notes.md."]], model=TOOLLESS if is_known else SCRIPTED)
    ref = harness.ask(principal)
    events = harness.events(ref)
    assert_well_formed(events)
    assert events[-1].data["status"] == "completed"
    assert harness.pauses == []
    # only text is shown, and the tool has worked
    assert "".join(str(event.data["text"]) for event in events if event.type == "chunk") == (
        "I write it down.\nIt is in notes.md."
    )
    (log,) = calls_of(harness, ref)
    assert (log.name, log.status) == ("writeFile", "succeeded")
    assert list(harness.objects.content.values()) == [b"Hello"]
    # such a model refuses the parameter, and messages of tools
    asked, answered = harness.model.requests[-2:]
    assert asked.tools == answered.tools == ()
    assert [message.role for message in answered.messages] == ["system", "user", "assistant", "user"]
    assert answered.messages[:2] == asked.messages
    assert answered.messages[2].content == f"I write it down.\n\n\n{WRITE}"
    assert answered.messages[3].content == result_block(
        "writeFile", as_data("writeFile", log.result or ""), is_error=False
    )


def test_calls_are_kept_as_calls(database: Database, principal: Principal) -> None:
    # another model, one that takes tools, could go on from here
    harness = Harness(database, [CALLING, ["Done."]], model=TOOLLESS)
    ref = harness.ask(principal)
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
        assert run.workflow_id
        spoken = session.messages.of_workflow(run.workflow_id)[1]
        (first, second) = session.runs.rounds(ref.run_id)
    assert (spoken.content, [call.name for call in spoken.tool_calls]) == ("I write it down.\n", ["writeFile"])
    assert (first.stop_reason, second.stop_reason) == ("tool_calls", "stop")
    assert first.input_tokens == harness.model.usage.input_tokens


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (call_block("searchFiles", '{"query": '), "not valid JSON"),
        ('<werkbank_call name="searchFiles">\n{"query": "re', "not valid JSON"),
        ('<werkbank_call name="listFiles">\n', "not valid JSON"),
        (call_block("searchFiles", "{}"), "query"),
        (call_block("listFile", "{}"), "listFiles"),
    ],
)
def test_faulty_call_comes_back_to_the_model(
    database: Database, principal: Principal, text: str, complaint: str
) -> None:
    # AG-10
    harness = Harness(database, [[text], ["I see."]], model=TOOLLESS)
    ref = harness.ask(principal)
    (log,) = calls_of(harness, ref)
    assert log.status == "failed"
    assert complaint in (log.result or "")
    assert 'status="failed"' in harness.model.requests[1].messages[-1].content
    assert complaint in harness.model.requests[1].messages[-1].content


def test_several_calls_are_all_run_and_what_is_made_up_after_them_is_not_shown(
    database: Database, principal: Principal
) -> None:
    listing = call_block("listFiles", "{}")
    invented = f"{result_block('listFiles', 'secret.pdf', is_error=False)}\nYou have secret.pdf."
    harness = Harness(database, [[listing, "\n", WRITE, invented], ["Nothing there."]], model=TOOLLESS)
    ref = harness.ask(principal)
    assert [log.name for log in calls_of(harness, ref)] == ["listFiles", "writeFile"]
    assert "secret.pdf" not in str(harness.events(ref))
    assert "secret.pdf" not in str(harness.model.requests[1].messages)
    assert harness.model.requests[1].messages[-1].content.count("<werkbank_result ") == 2


def test_sensitive_question_is_searched_for_a_model_without_tools(database: Database, principal: Principal) -> None:
    # WS-03
    harness = Harness(database, [["Anna Muster [1]."]], model=TOOLLESS, pages=(PAGE,))
    ref = harness.ask(principal, "Who is the mayor of Bern?", config=WEB)
    told = harness.model.requests[0].messages[-1]
    assert told.role == "user"
    assert "Anna Muster" in "".join(data_in(told.content))
    assert [event.type for event in harness.events(ref)].count("citations") == 1


def test_last_words_are_words(database: Database, principal: Principal) -> None:
    # AG-07: a call where none may be made is neither run nor shown
    harness = Harness(database, [[WRITE], [f"So far: one note. {WRITE}"]], model=TOOLLESS)
    ref = harness.ask(principal, config={"maxRounds": 1})
    events = harness.events(ref)
    assert events[-1].data["status"] == "maxRoundsReached"
    assert [event.data["content"] for event in events if event.type == "message"] == ["So far: one note. "]
    assert len(calls_of(harness, ref)) == 1


def test_model_with_tools_is_preferred(database: Database, principal: Principal) -> None:
    native = ScriptedModel([["From the one with tools."]])
    harness = Harness(database, [], model=TOOLLESS, stand_in=(NATIVE, native))
    harness.ask(principal)
    assert native.requests[0].tools


def test_model_without_tools_answers_where_it_is_wanted_or_needed(database: Database, principal: Principal) -> None:
    native = ScriptedModel([[ProviderUnavailable("down")]] * 2)
    harness = Harness(database, [["As you wish."], ["In its place."]], model=TOOLLESS, stand_in=(NATIVE, native))
    harness.ask(principal, config={"model": TOOLLESS.id})
    assert (len(harness.model.requests), len(native.requests)) == (1, 0)
    harness.ask(principal)
    assert (len(harness.model.requests), len(native.requests)) == (2, 2)
