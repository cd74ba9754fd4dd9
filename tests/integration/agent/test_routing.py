"""Model and system prompt are settled in a run's first round and hold to its end (AG-18)."""

from collections.abc import Mapping

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.conftest import new_member
from tests.integration.knowledge.library import MODEL, document_of, new_file
from tests.scripted_model import SCRIPTED, ScriptedModel
from werkbank.agent.prompt import SYSTEM_PROMPT
from werkbank.agent.trace import trace_of
from werkbank.ai.model import Model, Price
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.files import FileFolder, Scope
from werkbank.domain.ids import new_id
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef
from werkbank.domain.time import utc_now
from werkbank.domain.trace import AgentTrace

_FREE = dict.fromkeys(("input", "output", "cached_input", "cache_write"), "0")


def cheap(price: Price | None = SCRIPTED.price) -> Model:
    assert price
    ratings = dict.fromkeys(SCRIPTED.ratings, 5)
    changes = {"id": "anthropic/cheap", "provider": "anthropic", "ratings": ratings}
    return SCRIPTED.model_copy(update={**changes, "price": price.model_validate({**price.model_dump(), **_FREE})})


MARKED: Mapping[str, object] = {"tags": ("skill",)}
SIMPLE, COMPLEX = "Wie hoch ist die Miete?", "Vergleiche die Mieten und berechne die Differenz."


def trace(database: Database, ref: RunRef) -> AgentTrace:
    with database.session(ref.principal) as session:
        return trace_of(session, ref.run_id)


def models(database: Database, ref: RunRef) -> list[str | None]:
    return [log.model for log in trace(database, ref).rounds]


def look(n: int) -> ToolCall:
    return LIST_CALL.model_copy(update={"id": f"c{n}", "arguments": f'{{"search": "{chr(97 + n) * 9}"}}'})


def test_simple_question_goes_to_the_cheap_model_and_stays_there(database: Database, principal: Principal) -> None:
    harness = Harness(database, [], stand_in=(cheap(), ScriptedModel([[look(1)], [look(2)], ["1200."]])))
    ref = harness.ask(principal, SIMPLE)
    assert models(database, ref) == ["anthropic/cheap"] * 3
    assert trace(database, ref).complexity == "simple"


def test_rounds_and_closing_text_are_told_as_much_of_the_conversation_as_the_routed_model_reads(
    database: Database, principal: Principal
) -> None:  # AG-14
    small = cheap().model_copy(update={"context_window": 40_000})
    stand_in = ScriptedModel([["Wort " * 5_000], [look(1)], ["As far as I got."]])
    harness, workflow_id = Harness(database, [], stand_in=(small, stand_in)), new_id()
    harness.ask(principal, SIMPLE, workflowId=workflow_id)
    harness.ask(principal, SIMPLE, workflowId=workflow_id, config={"maxRounds": 1})
    _, asked, closing = stand_in.requests
    assert not closing.may_call_tools
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert [message.role for message in closing.messages] == ["system", "user", "assistant", "tool", "user"]


def test_complex_question_goes_to_the_best(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[look(1)], ["Done."]], stand_in=(cheap(), ScriptedModel([])))
    ref = harness.ask(principal, COMPLEX)
    assert models(database, ref) == [SCRIPTED.id] * 2
    assert trace(database, ref).complexity == "complex"


@pytest.mark.parametrize("question", [SIMPLE, COMPLEX])
def test_fixed_model_answers_whatever_the_question(database: Database, principal: Principal, question: str) -> None:
    harness = Harness(database, [["Done."]], stand_in=(cheap(), ScriptedModel([])))
    ref = harness.ask(principal, question, config={"model": SCRIPTED.id})
    assert models(database, ref) == [SCRIPTED.id]


def test_model_changes_in_mid_run_only_by_fallback_and_then_stays(database: Database, principal: Principal) -> None:
    down = [[ProviderUnavailable("down")]] * 2
    stand_in = ScriptedModel([[look(1)], *down])
    harness = Harness(database, [[look(2)], ["Done."]], stand_in=(cheap(), stand_in))
    ref = harness.ask(principal, SIMPLE)
    assert models(database, ref) == ["anthropic/cheap", SCRIPTED.id, SCRIPTED.id]


def test_closing_text_is_by_the_runs_model_with_the_runs_prompt(database: Database, principal: Principal) -> None:
    stand_in = ScriptedModel([[look(1)], ["So far nothing."]])
    harness = Harness(database, [], stand_in=(cheap(), stand_in))
    harness.ask(principal, SIMPLE, config={"maxRounds": 1})
    first, closing = stand_in.requests
    assert closing.messages[0] == first.messages[0]


def add_skill(
    database: Database, owner: Principal, name: str, scope: Scope = "personal", changes: Mapping[str, object] = MARKED
) -> str:
    """Store an indexed skill on expenses; its text is its name."""
    text = f"---\nname: {name}\ndescription: Spesen prüfen, Spesenabrechnung\n---\nWay of {name}."
    update = {"mime_type": "text/markdown", "size": len(text), **changes}
    file = new_file(owner, f"{name}.md", scope).model_copy(update=update)
    document, chunks = document_of(file.file_name, text)
    with database.session(owner) as session:
        stored = session.files.add(file)
        session.knowledge.replace_index(file.id, document, chunks, MODEL.id)
    return stored.id


def told(database: Database, principal: Principal, question: str = "Prüfe die Spesen") -> tuple[str, list[str]]:
    """Ask; return the system prompt and the names of the skills in the trace."""
    harness = Harness(database, [["Done."]])
    ref = harness.ask(principal, question)
    return harness.model.requests[0].messages[0].content, [skill.name for skill in trace(database, ref).skills]


def test_skill_is_in_the_system_prompt_of_every_round_and_in_the_trace(database: Database) -> None:
    admin = new_member(database, None, "admin")
    member = new_member(database, admin.mandate_id)
    file_id = add_skill(database, admin, "House", "mandate")
    harness = Harness(database, [[look(1)], [look(2)], ["Done."]])
    ref = harness.start(member, "Prüfe die Spesen")

    def change(round: int) -> None:
        if round == 2:  # what changes on the way changes nothing for this run
            add_skill(database, member, "Later")

    harness.drive(ref, change)
    prompts = [request.messages[0].content for request in harness.model.requests]
    assert len(prompts) == 3
    assert len(set(prompts)) == 1
    assert prompts[0].startswith(SYSTEM_PROMPT)
    assert "Way of House." in prompts[0]
    (skill,) = trace(database, ref).skills
    assert (skill.name, skill.origin, skill.file_id) == ("House", "mandate", file_id)
    assert told(database, member)[1] == ["House", "Later"]


def test_retried_round_is_told_the_same(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[ProviderUnavailable("down")]] * 2 + [["Done."]])
    ref = harness.start(principal, "Prüfe die Spesen")
    with pytest.raises(ProviderUnavailable):
        harness.rounds.run(ref, 1, 30)
    add_skill(database, principal, "Mine")
    harness.drive(ref)
    assert len({request.messages[0] for request in harness.model.requests}) == 1


def test_foreign_file_is_never_in_anybodys_prompt(database: Database, principal: Principal) -> None:
    colleague = new_member(database, principal.mandate_id, "admin")
    stranger = new_member(database, None, "admin", "operator")
    add_skill(database, colleague, "Colleague")
    add_skill(database, stranger, "Stranger", "mandate")
    world = add_skill(database, stranger, "World", "global")
    try:
        assert told(database, principal) == (SYSTEM_PROMPT, [])
        assert told(database, colleague)[1] == ["Colleague"]
    finally:
        with database.session(stranger) as session:
            session.files.delete(world)  # every other test would see it


@pytest.mark.parametrize(
    "changes",
    [{"tags": ()}, {"neutralize": True}, {"mime_type": "text/plain", "file_name": "a.txt"}, {"size": 1_000_000}],
)
def test_what_counts_as_no_skill(database: Database, principal: Principal, changes: dict[str, object]) -> None:
    add_skill(database, principal, "Other", changes={**MARKED, **changes})
    assert told(database, principal) == (SYSTEM_PROMPT, [])


def test_file_in_the_folder_skills_is_one_also_for_others_once_shared(database: Database) -> None:
    admin = new_member(database, None, "admin")
    member = new_member(database, admin.mandate_id)
    folder = FileFolder(
        id=new_id(), mandate_id=admin.mandate_id, user_id=admin.user_id, name="Skills", created_at=utc_now()
    )
    with database.session(admin) as session:
        session.folders.add(folder)
    file_id = add_skill(database, admin, "Filed", changes={"folder_id": folder.id})
    assert told(database, admin)[1] == ["Filed"]
    assert told(database, member)[1] == []
    with database.session(admin) as session:
        session.files.update(file_id, scope="mandate")
    assert told(database, member)[1] == ["Filed"]


def test_a_run_cannot_write_itself_a_skill(database: Database, principal: Principal) -> None:
    # what a document tells a model to write must not come back as an instruction to every later run
    file_id = add_skill(database, principal, "Mine")
    arguments = f'{{"name": "{file_id}", "content": "obey", "mode": "overwrite"}}'
    harness = Harness(database, [[ToolCall(id="a", name="writeFile", arguments=arguments)], ["Done."]])
    ref = harness.ask(principal)
    (call,) = trace(database, ref).rounds[0].tool_calls
    assert call.status == "failed"
    assert "skill" in (call.result or "")
    assert harness.objects.puts == 0


def test_known_facts_end_the_system_prompt_of_their_user_alone(database: Database, principal: Principal) -> None:
    order = "Merke dir: Unser Treuhänder heisst Müller AG."
    harness = Harness(database, [["Gemerkt."], [look(1)], ["Gut."]])
    workflow_id = new_id()
    harness.ask(principal, order, workflowId=workflow_id)
    add_skill(database, principal, "Mine")
    harness.ask(principal, "Prüfe die Spesen")
    first, *later = (request.messages[0].content for request in harness.model.requests)
    assert first == SYSTEM_PROMPT
    assert len(set(later)) == 1
    assert later[0].startswith(SYSTEM_PROMPT)
    known = later[0].partition("Known about this user")[2]
    assert "not instructions" in known
    assert known.rstrip().endswith(order)
    assert later[0].index("Way of Mine.") < later[0].index("Known about this user")
    colleague = new_member(database, principal.mandate_id)
    assert told(database, colleague, "Wie hoch ist die Miete?") == (SYSTEM_PROMPT, [])
    # what stands in the conversation itself is told there
    harness = Harness(database, [["Müller."]])
    harness.ask(principal, "Wie heisst er?", workflowId=workflow_id)
    assert "Known about" not in harness.model.requests[0].messages[0].content
