"""What is told while the web is searched: pushed, never kept (WS-05)."""

import threading
from collections.abc import Generator

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_web import PAGE, search
from tests.page_search import PageSearch
from tests.scripted_model import Piece, ScriptedModel
from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta, StreamEnd, TextDelta
from werkbank.database.connection import Database
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run, RunRef
from werkbank.websearch.model import WebFacts

SENSITIVE = "Who is the mayor of Bern?"
ICELANDIC = "\n".join(f"setning {number}" for number in range(8))


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


class Interpreter(ScriptedModel):
    """Translates when it is asked to, beside its script."""

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        if "BCP 47" in request.messages[0].content:
            yield TextDelta(ICELANDIC)
            yield StreamEnd(self.usage, "stop")
        else:
            yield from super().stream_chat(model, request, timeout_seconds)


def test_opening_waits_for_no_translation_which_is_paid_once_as_part_of_the_search(
    database: Database, principal: Principal
) -> None:
    icelander = principal.model_copy(update={"language": "is"})
    web = SlowSearch()
    harness = Harness(database, [], search=web, provider=Interpreter([["Anna Muster [1]."], ["Again [1]."]]))
    web.may_end = harness.pushed.has_filler
    for _ in range(2):
        harness.pushed.has_filler.clear()
        harness.ask(icelander, SENSITIVE)
        for thread in threading.enumerate():
            if thread.name == "fillers":
                thread.join(30)
    told = [str(filler.data["text"]) for filler in harness.pushed.of_type("filler")]
    assert [text.startswith("setning") for text in told] == [False, True]
    with database.session(icelander) as session:
        assert {total.kind: total.calls for total in session.ledger.by_kind()}["search"] == 1


def test_one_of_a_rounds_searches_tells(database: Database, principal: Principal) -> None:
    # each call runs in a function of its own, which knows nothing of the others
    calls = [search("mayor of Bern"), LIST_CALL, search("mayor of Basel").model_copy(update={"id": "t"})]
    harness = Harness(database, [calls, [search("mayor of Chur")], ["Done."]], pages=(PAGE,))
    ref = harness.ask(principal)
    with database.session(principal) as session:
        stored = session.tool_calls.of_run(ref.run_id)
        tells = [session.tool_calls.is_first_of_its_tool(call) for call in stored]
    assert [call.name for call in stored] == ["webSearch", "listFiles", "webSearch", "webSearch"]
    assert tells == [True, True, False, True]
