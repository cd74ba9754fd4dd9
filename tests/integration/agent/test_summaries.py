"""Long runs are folded on the way, at their own cost, with a prompt that stays cacheable (AG-14, AG-15)."""

from itertools import pairwise

from tests.integration.agent.harness import Harness
from tests.scripted_model import Piece
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderRefused
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal


def look(n: int) -> list[Piece]:
    """A call unlike the others, so that nobody takes the run for stalled."""
    return [ToolCall(id=f"c{n}", name="listFiles", arguments=f'{{"search": "{chr(97 + n) * 9}"}}')]


def test_long_run_is_told_by_summaries(database: Database, principal: Principal) -> None:
    script: list[list[Piece]] = [look(1), look(2), look(3), ["- found nothing in rounds 1 and 2"], look(4), ["Done."]]
    harness = Harness(database, script)
    ref = harness.ask(principal)
    assert harness.events(ref)[-1].data["status"] == "completed"
    summed_up, fourth, fifth = harness.model.requests[3:]
    assert "Round 1" in summed_up.messages[-1].content
    assert not summed_up.tools
    assert ' from="summary of rounds 1 to 2">' in fourth.messages[1].content
    assert "found nothing in rounds 1 and 2" in fourth.messages[1].content
    assert [message.tool_call_id for message in fourth.messages if message.role == "tool"] == ["c3"]
    assert fifth.messages[: len(fourth.messages)] == fourth.messages
    with database.session(principal) as session:
        kinds = [charge.kind for charge in session.ledger.charges(ref.run_id)]
    assert kinds.count("summary") == 1


def test_prefix_changes_only_where_rounds_are_folded(database: Database, principal: Principal) -> None:
    # over 15 rounds: between two folds every prompt begins with the one before
    script: list[list[Piece]] = []
    summaries_before = {4: 1, 7: 1, 10: 1, 13: 1, 15: 1}
    for n in range(1, 16):
        script.extend([["- summary"]] * summaries_before.get(n, 0))
        script.append(look(n))
    harness = Harness(database, [*script, ["Done."]])
    harness.ask(principal)
    asked = [request.messages for request in harness.model.requests if request.tools]
    assert len(asked) == 16
    changed = [n for n, (one, two) in enumerate(pairwise(asked), 2) if two[: len(one)] != one]
    assert changed == [4, 7, 10, 13, 15]
    assert ' from="summary of rounds 1 to 10">' in asked[14][1].content
    assert ' from="summary of rounds 11 to 13">' in asked[14][1].content


def test_summary_that_fails_leaves_the_rounds_whole(database: Database, principal: Principal) -> None:
    script: list[list[Piece]] = [look(1), look(2), look(3), [ProviderRefused("no")], ["Done."]]
    harness = Harness(database, script)
    ref = harness.ask(principal)
    assert harness.events(ref)[-1].data["status"] == "completed"
    assert [m.tool_call_id for m in harness.model.requests[-1].messages if m.role == "tool"] == ["c1", "c2", "c3"]


def test_all_of_a_conversation_goes_by_one_name_that_tells_nothing(database: Database, principal: Principal) -> None:
    # AI-06: what a provider has cached of it is found again
    harness = Harness(database, [look(1), ["Done."], ["And again."], ["Elsewhere."]])
    ref = harness.ask(principal)
    with database.session(principal) as session:
        workflow_id = session.runs.get(ref.run_id).workflow_id
    harness.ask(principal, workflow_id=workflow_id)
    harness.ask(principal)
    one, two, three, other = (request.conversation for request in harness.model.requests)
    assert one == two == three != other
    assert one not in (None, workflow_id, ref.run_id)
