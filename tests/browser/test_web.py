"""The web at the page: what is told while a search takes its time, and the switch that turns it off (WS-05, WS-07)."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from infra.local.stack import LocalStack
from tests.browser.visitor import Visitor, is_answered, visiting
from tests.search_server import SearchServer, search_server
from tests.stack import Script, scripted_stack
from werkbank.domain.messages import ToolCall
from werkbank.websearch.language import read_language
from werkbank.websearch.model import WebResult

PAGE = WebResult(url="https://bern.example/rat", title="Der Rat", text="The mayor of Bern is Anna Muster.")
SEARCH = ToolCall(id="s", name="webSearch", arguments='{"query": "mayor of Bern"}')
SENSITIVE = "Who is the mayor of Bern?"


@pytest.fixture(scope="module")
def search() -> Iterator[SearchServer]:
    with search_server(PAGE) as search:
        yield search


@pytest.fixture(scope="module")
def searching_script() -> Script:
    return Script()


@pytest.fixture(scope="module")
def searching_stack(searching_script: Script, search: SearchServer) -> Iterator[LocalStack]:
    keys = {"TAVILY_API_KEY": "none", "WERKBANK_TAVILY_BASE_URL": search.url}
    with scripted_stack(searching_script, keys) as stack:
        yield stack


@pytest.fixture
def person(browser: Browser, searching_stack: LocalStack, search: SearchServer) -> Iterator[Visitor]:
    """The demo user where the web can be searched, slowly."""
    search.may_answer.clear()
    search.queries.clear()
    with visiting(browser, searching_stack) as visitor:
        visitor.sign_in()
        yield visitor


def openings(language: str) -> list[str]:
    """Return what is said when a search begins."""
    fillers = read_language(language)["fillers"]
    assert isinstance(fillers, dict)
    return list(fillers["opening"])


def wait_for_opening(person: Visitor, answer: Locator) -> str:
    """Return the opening once the page tells it."""
    activity = answer.get_by_test_id("activity")
    expect(activity).not_to_have_text("Thinking…")
    told = activity.inner_text()
    assert told in openings("en")
    expect(person.page.get_by_role("status").filter(has_text=told)).to_have_attribute("aria-live", "polite")
    return told


@pytest.mark.parametrize("kind", ["forced", "called"])
def test_filler_is_told_while_the_web_is_searched_and_gone_with_the_answer(
    person: Visitor, searching_script: Script, search: SearchServer, kind: str
) -> None:
    # WS-05
    answers: list[list[str | ToolCall]] = [[SEARCH]] if kind == "called" else []
    question = searching_script.add(*answers, ["Anna Muster [1]."], about=SENSITIVE if kind == "forced" else "Look up")
    answer = person.ask(question)
    told = wait_for_opening(person, answer)
    expect(answer.get_by_test_id("answer-text")).to_have_count(0)
    search.may_answer.set()
    is_answered(answer)
    assert told not in person.page.content()
    person.page.reload()
    is_answered(answer)
    assert told not in person.page.content()


def test_filler_is_not_told_again_after_a_reload(
    person: Visitor, searching_script: Script, search: SearchServer
) -> None:
    # WS-05: never stored
    answer = person.ask(searching_script.add(["Anna Muster [1]."], about=SENSITIVE))
    wait_for_opening(person, answer)
    person.page.reload()
    expect(answer.get_by_test_id("activity")).to_have_text("Thinking…")
    search.may_answer.set()
    is_answered(answer)


def test_who_switches_the_web_off_is_never_searched_for(
    person: Visitor, searching_script: Script, search: SearchServer
) -> None:
    # WS-07
    page = person.page
    search.may_answer.set()
    page.get_by_role("button", name="Settings").click()
    switch = page.get_by_role("switch", name="Web search", exact=True)
    expect(switch).to_be_checked()
    switch.focus()
    page.keyboard.press("Space")
    expect(switch).not_to_be_checked()
    page.keyboard.press("Escape")
    expect(switch).to_be_hidden()
    question = searching_script.add(["I do not know."], about=SENSITIVE)
    is_answered(person.ask(question))
    assert search.queries == []
    assert "webSearch" not in str(searching_script.requests[question][0]["tools"])
    page.reload()
    page.get_by_role("button", name="Settings").click()
    expect(switch).not_to_be_checked()
    page.get_by_role("button", name="Use the organisation's setting again (on)").click()
    expect(switch).to_be_checked()
    page.keyboard.press("Escape")
    is_answered(person.ask(searching_script.add(["Anna Muster [1]."], about=SENSITIVE)))
    assert len(search.queries) == 1


def test_administrator_switches_the_web_off_for_everyone(person: Visitor) -> None:
    # WS-07
    page = person.page
    page.get_by_role("button", name="Settings").click()
    own = page.get_by_role("switch", name="Web search", exact=True)
    everyones = page.get_by_role("switch", name="Web search for the organisation")
    expect(everyones).to_be_checked()
    everyones.click()
    expect(own).not_to_be_checked()
    everyones.click()
    expect(own).to_be_checked()
