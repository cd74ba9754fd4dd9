"""A run that gets nowhere ends early, with a text that says why (AG-09)."""

import json

from tests.integration.agent.harness import Harness
from tests.integration.conftest import new_member
from tests.scripted_model import Piece
from werkbank.agent.prompt import CUT_OFF_CALL, LAST_CALLS
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderRefused
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal

PREFACE = "I will now read the next part of this document."


def listing(**arguments: str) -> ToolCall:
    return ToolCall(id="a", name="listFiles", arguments=json.dumps(arguments))


def reading(line: int) -> ToolCall:
    return ToolCall(id="a", name="readFile", arguments=json.dumps({"file": "a", "startLine": line}))


def cut_off(text: str) -> ToolCall:
    return ToolCall(id="a", name="writeFile", arguments=f'{{"name": "report.md", "content": "{text}')


def end_of(harness: Harness, principal: Principal) -> tuple[str, int, str]:
    """Ask; return how the run ended, after how many rounds, and what it said last."""
    events = harness.events(harness.ask(principal))
    (summary,) = (event.data for event in events if event.type == "agentSummary")
    (message,) = (event.data for event in events if event.type == "message")
    return str(summary["status"]), int(str(summary["rounds"])), str(message["content"])


def test_the_same_pair_of_calls_every_round_is_a_circle(database: Database, principal: Principal) -> None:
    pair: list[Piece] = [listing(), listing(search="rent")]
    harness = Harness(database, [pair, pair, pair, ["I kept listing files."]])
    assert end_of(harness, principal) == ("stalled", 3, "I kept listing files.")
    told = harness.model.requests[-1].messages[-1].content
    assert told.endswith(LAST_CALLS["stalled"])
    assert "Say that this is why you stop" in told


def test_the_same_call_many_times_at_once_is_a_circle(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[listing()] * 12, ["I listed the files."]])
    assert end_of(harness, principal) == ("stalled", 1, "I listed the files.")


def test_the_same_answer_with_another_call_is_a_circle(database: Database, principal: Principal) -> None:
    answer = "The rent is CHF 1,200 a month, payable in advance. " * 5
    harness = Harness(database, [[answer, reading(1)], [answer, listing()], ["I said the same again."]])
    assert end_of(harness, principal) == ("stalled", 2, "I said the same again.")


def test_an_introductory_sentence_may_be_said_again(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[PREFACE, reading(1)], [PREFACE, reading(400)], ["The rent is CHF 1,200."]])
    assert end_of(harness, principal) == ("completed", 3, "The rent is CHF 1,200.")


def test_run_whose_calls_are_cut_off_twice_ends_and_says_why(database: Database, principal: Principal) -> None:
    # The model is told twice what was cut, in its tools' results; then it may only sum up.
    harness = Harness(database, [[cut_off("One")], [cut_off("Another")], ["The report was too long to write at once."]])
    assert end_of(harness, principal) == ("stalled", 2, "The report was too long to write at once.")
    told = harness.model.requests[-1].messages
    assert told[-1].content.endswith(CUT_OFF_CALL)
    assert ["cut off" in message.content for message in told if message.role == "tool"] == [True, True]


def test_cut_off_calls_are_told_of_without_a_model_too(database: Database) -> None:
    member = new_member(database).model_copy(update={"language": "de"})
    harness = Harness(database, [[cut_off("One")], [cut_off("Another")], [ProviderRefused("no credit")]])
    status, _, text = end_of(harness, member)
    assert status == "stalled"
    assert "zweimal nacheinander abgeschnitten" in text
