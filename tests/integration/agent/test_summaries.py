"""Long runs are folded on the way, at their own cost, with a prompt that stays cacheable (AG-14, AG-15)."""

from collections.abc import Generator, Iterable, Sequence
from itertools import pairwise

from tests.integration.agent.harness import Harness
from tests.scripted_model import SCRIPTED, Piece, ScriptedModel
from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta
from werkbank.ai.tokens import estimate_prompt_tokens
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderRefused
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.tools.catalog import TOOLS
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import Registry, tool


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


@tool(read_only=True)
def read_much(context: ToolContext, page: str) -> str:
    """Read a page."""
    return f"{page} " + "Zeile um Zeile. " * 1_500


def reading(n: int, calls: int = 1) -> list[Piece]:
    """Calls for pages that have nothing in common."""
    pages = [f"{chr(97 + n) * 9}{chr(97 + place) * 9}" for place in range(calls)]
    return [ToolCall(id=f"c{n}-{page}", name="readMuch", arguments=f'{{"page": "{page}"}}') for page in pages]


class SummingUp(ScriptedModel):
    """Sums rounds up by itself, or fails to: the script is what the agent says. `summed_up` counts the tries."""

    def __init__(self, answers: Iterable[Sequence[Piece]], fault: Exception | None = None) -> None:
        super().__init__(answers)
        self.fault = fault
        self.summed_up = 0

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the next answer, or a summary."""
        if request.tools and request.may_call_tools:
            return super().stream_chat(model, request, timeout_seconds)
        self.requests.append(request)
        self.summed_up += not request.tools
        return self._deltas([self.fault or "- summary"])


def test_a_run_that_reads_much_is_folded_when_full_and_goes_on_growing_at_its_end(
    database: Database, principal: Principal
) -> None:
    # A result has 12,000 tokens at most: five of them are more than half of the model's window.
    model = SummingUp([reading(n) for n in range(1, 25)])
    harness = Harness(database, [], Registry([*TOOLS, read_much]), provider=model)
    ref = harness.ask(principal, config={"maxRounds": 24})
    assert harness.events(ref)[-1].data["status"] == "maxRoundsReached"
    asked = [request.messages for request in model.requests if request.tools and request.may_call_tools]
    kept = sum(two[: len(one)] == one for one, two in pairwise(asked))
    assert kept >= len(asked) // 2, "most prompts begin with the one before"
    assert model.summed_up <= len(asked) // 2
    assert max(estimate_prompt_tokens(request) for request in model.requests) < SCRIPTED.context_window


def test_many_long_results_in_one_round_are_told_as_far_as_they_fit(database: Database, principal: Principal) -> None:
    # AG-07: they ended the run in an error
    harness = Harness(database, [reading(1, calls=9), ["Done."]], Registry([*TOOLS, read_much]))
    ref = harness.ask(principal)
    assert harness.events(ref)[-1].data["status"] == "completed"
    told = [message.content for message in harness.model.requests[-1].messages if message.role == "tool"]
    assert len(told) == 9
    assert all("cut here" in text for text in told)
    with database.session(principal) as session:
        stored = session.tool_calls.of_run(ref.run_id)
    assert all(len(call.result or "") == 24_000 or "more characters" in (call.result or "") for call in stored)


def test_a_summary_that_fails_is_tried_again_at_the_next_step_only(database: Database, principal: Principal) -> None:
    model = SummingUp([look(n) for n in range(1, 10)], fault=ProviderRefused("no"))
    harness = Harness(database, [], provider=model)
    harness.ask(principal, config={"maxRounds": 9})
    assert model.summed_up == 2, "at rounds 4 and 7"


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
