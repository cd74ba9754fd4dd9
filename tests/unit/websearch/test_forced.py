"""The backstop at work: what is found goes along with the question (WS-03)."""

from collections.abc import Sequence

import pytest

from tests.unit.websearch.runs import some_run
from werkbank.domain.messages import Message
from werkbank.domain.runs import Run
from werkbank.websearch.backstop import should_force_search
from werkbank.websearch.forced import ForcedSearch

HISTORY = (Message(role="user", content="Who played Roy Batty?"), Message(role="assistant", content="Rutger Hauer."))


class Web:
    """Says what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search_block(self, run: Run, query: str, *, tells: bool = True) -> str:
        self.asked.append(query)
        return "found"

    def page_block(self, run: Run, url: str, part: int) -> str:
        raise AssertionError("pages are not read here")


def rewrite(messages: Sequence[Message]) -> str:
    return "Is Rutger Hauer still alive?"


def test_sensitive_questions_bring_their_facts() -> None:
    web = Web()
    context = ForcedSearch(web).context(some_run(), "Wer ist derzeit Bundeskanzler?", (), rewrite)
    assert context == "found"
    assert web.asked == ["Wer ist derzeit Bundeskanzler?"]


def test_a_follow_up_is_searched_as_it_is_meant() -> None:
    # WS-02 before WS-03
    web = Web()
    assert ForcedSearch(web).context(some_run(), "And is he still alive?", HISTORY, rewrite)
    assert web.asked == ["Is Rutger Hauer still alive?"]


@pytest.mark.parametrize(
    "question", ["Does he still live there?", "Wohnt er dort noch?", "Y habite-t-il encore ?", "Woont hij daar nog?"]
)
def test_follow_up_that_only_its_meaning_makes_sensitive_is_searched(question: str) -> None:
    # WS-02: as it stands it asks for nothing that has to be searched
    assert not should_force_search(question)
    web = Web()
    history = (
        Message(role="user", content="Tell me about Roger Federer"),
        Message(role="assistant", content="Player."),
    )
    meant = "Does Roger Federer still live in Valbella?"
    assert ForcedSearch(web).context(some_run(), question, history, lambda messages: meant)
    assert web.asked == [meant]


def test_follow_up_that_means_somebody_of_ones_own_is_left_alone() -> None:
    # WS-02: judged by what it means
    web = Web()
    history = (Message(role="user", content="My dog is called Rex."),)
    assert (
        ForcedSearch(web).context(some_run(), "Is he still alive?", history, lambda _: "Is my dog still alive?") == ""
    )
    assert web.asked == []


def test_whole_question_waits_for_no_model_whatever_was_said_before() -> None:
    # WS-02
    def never(messages: Sequence[Message]) -> str:
        raise AssertionError("nobody may be asked")

    web = Web()
    assert ForcedSearch(web).context(some_run(), "Wo wohnt Roger Federer?", HISTORY, never)
    assert web.asked == ["Wo wohnt Roger Federer?"]


def test_an_incomplete_question_is_searched_after_one_that_was() -> None:
    # WS-02
    web = Web()
    history = (Message(role="user", content="Who is the mayor of Bern?"), Message(role="assistant", content="Anna M."))
    meant = "Who is the mayor of Basel?"
    assert ForcedSearch(web).context(some_run(), "What about Basel?", history, lambda messages: meant)
    assert web.asked == [meant]


def test_follow_ups_on_anything_else_cost_no_model_call() -> None:
    # WS-02
    def never(messages: Sequence[Message]) -> str:
        raise AssertionError("nobody may be asked")

    history = (Message(role="user", content="What is in my report?"), Message(role="assistant", content="Rents."))
    for question in ("What does it say about them?", "Summarise it.", "And in Basel?"):
        assert ForcedSearch(Web()).context(some_run(), question, history, never) == ""


def test_other_questions_are_left_to_the_model() -> None:
    web = Web()
    for question in ("Wer war 1990 Bundeskanzler?", "Summarise my report.", "What does a mayor do?"):
        assert ForcedSearch(web).context(some_run(), question, (), rewrite) == ""
    assert web.asked == []
