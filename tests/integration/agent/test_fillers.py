"""What is told while the web is searched: pushed, never kept (WS-05)."""

import threading

import pytest

from tests.integration.agent.harness import Harness
from tests.integration.agent.test_web import PAGE, search
from tests.page_search import PageSearch
from tests.scripted_model import Piece
from werkbank.database.connection import Database
from werkbank.domain.events import RunEvent
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run, RunRef
from werkbank.websearch.model import WebFacts

SENSITIVE = "Who is the mayor of Bern?"
SPANISH = "\n".join(f"frase {number}" for number in range(8))


class SlowSearch(PageSearch):
    """Finds something once its user was told that it takes a while."""

    def __init__(self) -> None:
        super().__init__((PAGE,))
        self.may_end = threading.Event()

    def search(self, run: Run, query: str, language: str, timeout_seconds: float) -> WebFacts:
        assert self.may_end.wait(timeout_seconds)
        return super().search(run, query, language, timeout_seconds)


def slow(database: Database, answers: list[list[Piece]]) -> Harness:
    """Return a harness whose searches end with the first filler."""
    web = SlowSearch()
    harness = Harness(database, answers, search=web)
    web.may_end = harness.pushed.has_filler
    return harness


def stored(harness: Harness, ref: RunRef) -> str:
    """Return all that is kept of a run, as one text."""
    with harness.database.session(ref.principal) as session:
        workflow_id = session.runs.get(ref.run_id).workflow_id
        messages = session.messages.of_workflow(str(workflow_id))
        calls = session.tool_calls.of_run(ref.run_id)
    return f"{harness.events(ref)} {messages} {calls}"


@pytest.mark.parametrize("kind", ["forced", "called"])
def test_search_is_bridged_by_an_opening_that_nobody_keeps(database: Database, principal: Principal, kind: str) -> None:
    called: list[list[Piece]] = [[search("mayor of Bern")]]
    harness = slow(database, [*(called if kind == "called" else []), ["Anna Muster [1]."]])
    question = SENSITIVE if kind == "forced" else "Look it up."
    ref = harness.ask(principal, question)
    (filler,) = harness.pushed.of_type("filler")
    assert (filler.run_id, filler.seq, filler.data["kind"]) == (ref.run_id, 0, "opening")
    following = harness.pushed.events[harness.pushed.events.index(filler) + 1 :]
    assert "chunk" in [event.type for event in following], "told before the answer began"
    assert str(filler.data["text"]) not in stored(harness, ref)
    assert str(filler.data["text"]) not in str(harness.model.requests)
    assert [event.seq for event in harness.events(ref)] == list(range(1, len(harness.events(ref)) + 1))


def test_fillers_are_translated_once_and_paid_as_part_of_the_search(database: Database, principal: Principal) -> None:
    spaniard = principal.model_copy(update={"language": "es"})
    harness = slow(database, [[SPANISH], ["Anna Muster [1]."], ["Again [1]."]])
    harness.ask(spaniard, SENSITIVE)
    harness.pushed.has_filler.clear()
    harness.ask(spaniard, SENSITIVE)
    told = harness.pushed.of_type("filler")
    assert [str(filler.data["text"]).startswith("frase") for filler in told] == [True, True]
    assert len(harness.model.requests) == 3
    with database.session(spaniard) as session:
        assert {total.kind: total.calls for total in session.ledger.by_kind()}["search"] == 1


def test_without_a_translation_fillers_are_english(database: Database, principal: Principal) -> None:
    harness = slow(database, [["no idea"], ["Anna Muster [1]."]])
    ref = harness.ask(principal.model_copy(update={"language": "es"}), SENSITIVE)
    (filler,) = harness.pushed.of_type("filler")
    assert isinstance(filler, RunEvent)
    assert "search" in str(filler.data["text"]) or "look" in str(filler.data["text"]) or "check" in str(filler.data)
    assert harness.events(ref)[-1].data["status"] == "completed"
