"""What a user said reaches the prompts of later questions (AG-17)."""

from decimal import Decimal

import pytest

from tests.integration.agent.harness import EMBEDDING, LIST_CALL, Harness
from tests.integration.conftest import new_member
from tests.scripted_model import SCRIPTED
from werkbank.agent.conclusion import Ending
from werkbank.agent.memory import Memory
from werkbank.ai.protocols import ChatRequest, Providers
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope, Purse
from werkbank.database.connection import Database
from werkbank.domain.ids import new_id
from werkbank.domain.marking import without_data
from werkbank.domain.messages import Usage
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef, RunStatus
from werkbank.providers.internal.embedding import HashingEmbedder

ORDER = "Merke dir: Unser Treuhänder heisst Müller AG."


def told(request: ChatRequest) -> str:
    """The newest question with what goes along."""
    return next(message.content for message in reversed(request.messages) if message.role == "user")


def test_pinned_fact_reaches_the_next_conversation_once(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Gemerkt."], ["Müller AG."]])
    harness.ask(principal, ORDER)
    harness.ask(principal, "Wie heisst der Treuhänder?")
    # as the user's own word, outside of what is marked as data (AG-16)
    prompt = without_data("\n".join(message.content for message in harness.model.requests[-1].messages))
    assert prompt.count(ORDER) == 1


def test_question_is_stored_with_its_importance_and_vector(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Gemerkt."], ["Gern."]])
    harness.ask(principal, ORDER)
    harness.ask(principal, "Danke!")
    with database.session(principal) as session:
        rows = session.connection.execute(
            "SELECT content, importance, pinned, embedding_model FROM message WHERE role = 'user' ORDER BY position"
        ).fetchall()
    order, thanks = [tuple(row.values()) for row in rows]
    assert order == (ORDER, 1.0, True, "internal/hashing-1536")
    assert thanks == ("Danke!", pytest.approx(0.05), False, None)


def test_recent_message_is_not_told_twice(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Gemerkt."], ["Müller AG."]])
    workflow_id = new_id()
    harness.ask(principal, ORDER, workflowId=workflow_id)
    harness.ask(principal, "Wie heisst er?", workflowId=workflow_id)
    prompt = "\n".join(message.content for message in harness.model.requests[-1].messages)
    assert prompt.count(ORDER) == 1
    assert "<memory>" not in prompt


def test_pinned_message_is_told_when_its_conversation_has_grown_beyond_it(
    database: Database, principal: Principal
) -> None:
    # the scripted model's window is 100,000 tokens, a quarter of it for the recent part
    long_answer = ["Wort " * 12_000]
    harness = Harness(database, [["Gemerkt."], long_answer, ["Müller AG."]])
    workflow_id = new_id()
    for prompt in (ORDER, "Erzähle viel.", "Wie heisst er?"):
        harness.ask(principal, prompt, workflowId=workflow_id)
    messages = harness.model.requests[-1].messages
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].content.count(ORDER) == 1


def test_prefix_stays_identical_while_memory_changes(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Gemerkt."], [LIST_CALL], ["Müller AG."]])
    said = harness.ask(principal, ORDER)
    ref = harness.start(principal, "Wie heisst der Treuhänder?")

    def forget(round: int) -> None:
        if round == 2:
            with database.session(principal) as session:
                [memory] = [m for m in session.knowledge.remembered.latest(9) if m.content == ORDER]
                session.knowledge.remembered.forget(memory.id)

    harness.drive(ref, forget)
    first, second = harness.model.requests[1:]
    assert second.messages[: len(first.messages)] == first.messages
    assert said.run_id != ref.run_id


def test_without_an_embedder_memory_goes_on(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Gut."], ["CHF 4'500."]], can_embed=False)
    harness.ask(principal, "Die Miete der Filiale beträgt CHF 4'500.")
    harness.ask(principal, "Wie hoch ist die Miete?")
    assert "Said earlier:" in told(harness.model.requests[-1])


def test_stopped_question_is_remembered_too(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Müller AG."]])
    harness.fail(harness.start(principal, ORDER), "RunOver")
    harness.ask(principal, "Wie heisst der Treuhänder?")
    assert ORDER in harness.model.requests[-1].messages[0].content


def memories(database: Database, ref: RunRef) -> list[tuple[str, str]]:
    with database.session(ref.principal) as session:
        rows = session.connection.execute(
            "SELECT kind, content FROM round_memory WHERE run_id = %s ORDER BY kind, id", (ref.run_id,)
        )
        return [(row["kind"], row["content"]) for row in rows.fetchall()]


def embeddings(database: Database, ref: RunRef) -> int:
    with database.session(ref.principal) as session:
        return [charge.kind for charge in session.ledger.charges(ref.run_id)].count("embedding")


@pytest.mark.parametrize("status", ["stopped", "error", "completed"])
def test_run_that_was_concluded_elsewhere_is_remembered(
    database: Database, principal: Principal, status: RunStatus
) -> None:
    # AG-04, AG-23: its user stopped it, or whoever concluded it was killed right after
    harness = Harness(database, [["I look at the files.", LIST_CALL]])
    ref = harness.start(principal, "Welche Dateien zur Miete der Filiale Bern gibt es?")
    harness.run_tools(ref, harness.rounds.run(ref, 1, 30))
    harness.conclusion.conclude(ref, Ending(status=status))
    assert memories(database, ref) == []
    harness.fail(ref, "States.ABORTED")
    with database.session(principal) as session:
        listed = session.tool_calls.get(ref.run_id, 1, "a").result
        asked = session.connection.execute("SELECT embedding_model FROM message WHERE role = 'user'").fetchone()
    assert memories(database, ref) == [("decision", "I look at the files."), ("toolResult", f"listFiles: {listed}")]
    assert asked == {"embedding_model": "internal/hashing-1536"}
    assert harness.events(ref)[-1].data.get("status", "error") == status


def test_run_is_remembered_once_and_pays_for_it(database: Database, principal: Principal) -> None:
    # AG-04, AI-08: whoever comes second finds it done; whoever died before noting it did nothing in vain
    harness = Harness(database, [[LIST_CALL], ["Nothing about rents."]])
    ref = harness.ask(principal, "Welche Dateien zur Miete gibt es?")
    before = memories(database, ref)
    assert (len(before), embeddings(database, ref)) == (2, 2)  # the question, then what is remembered
    harness.fail(ref, "States.ABORTED")
    assert embeddings(database, ref) == 2
    with database.session(principal) as session:
        session.connection.execute("UPDATE run SET remembered_at = NULL")
    harness.fail(ref, "States.ABORTED")
    assert memories(database, ref) == before


def test_what_is_kept_for_the_closing_text_pays_for_memory_too(database: Database, principal: Principal) -> None:
    # AI-08: a run that ended because its money was used up is remembered as well
    harness = Harness(database, [["Gemerkt."]])
    ref = harness.start(principal, ORDER, config={"maxCostCHF": "1"})
    with Purse(database).pay(CallScope(principal, "agentRound", run_id=ref.run_id), "m", Decimal("0.9")) as payment:
        payment.settle(Decimal("0.9"), Usage())
    priced = EMBEDDING[0].model_copy(update={"price": SCRIPTED.price})
    ai = AiService((priced,), Providers(embedding={"internal": HashingEmbedder()}), Purse(database))
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
    Memory(database, database, ai).remember(run)
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
    assert run.remembered_at
    assert Decimal("0.9") < run.spent_chf < 1


def test_memory_is_nobody_elses(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["Gemerkt."], ["Weiss nicht."]])
    harness.ask(principal, ORDER)
    harness.ask(new_member(database, principal.mandate_id), "Wie heisst der Treuhänder?")
    assert "Müller" not in told(harness.model.requests[-1])


def test_memory_that_fails_does_not_fail_the_run(
    database: Database, principal: Principal, caplog: pytest.LogCaptureFixture
) -> None:
    # AG-04: only logged; whoever finishes it next tries again
    harness = Harness(database, [["Gemerkt."]], can_embed=False)
    ref = harness.ask(principal, ORDER)
    assert harness.events(ref)[-1].type == "complete"
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
    assert run.remembered_at is None
    nowhere = Database(lambda: "postgresql://127.0.0.1:1/nowhere", wait_seconds=0.1)
    Memory(nowhere, database, harness.ai).remember(run)
    Memory(database, nowhere, harness.ai).remember(run)
    nowhere.close()
    logged = [record.getMessage() for record in caplog.records]
    assert logged.count("run not remembered") == 3
