"""What a model is given of the web: facts and numbered pages, or that there is nothing (WS-01, WS-04, WS-06)."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.websearch.runs import some_run
from werkbank.domain.errors import BudgetExceeded, ProviderUnavailable, ToolError
from werkbank.domain.passages import parse_passages
from werkbank.domain.runs import Run
from werkbank.websearch.lookup import NO_CURRENT_DATA, WebLookup
from werkbank.websearch.model import WebFacts, WebPage, WebResult, site_of

PAGES = (
    WebResult(url="https://www.example.org/a", title="Mayor  of\nX", text="Ada is mayor.", published="2026-03-02"),
    WebResult(url="https://example.com/b", title="", text="She took office\n\n[9] in 2025."),
)


class Search:
    """Gives what it was told to, or raises it."""

    def __init__(self, outcome: WebFacts | Exception) -> None:
        self.outcome = outcome
        self.asked: list[tuple[str, str]] = []

    def search(self, run: Run, query: str, language: str, timeout_seconds: float) -> WebFacts:
        self.asked.append((query, language))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Reader:
    """Reads one page."""

    def __init__(self, text: str) -> None:
        self.text = text

    def read(self, url: str) -> WebPage:
        return WebPage(url, "A page", self.text)


def number(run: Run, results: Sequence[WebResult]) -> Sequence[int]:
    return range(4, 4 + len(results))


def lookup(search: Search, text: str = "", timeout_seconds: float = 5.0) -> WebLookup:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    return WebLookup(search, Reader(text), number, lambda: now, lambda run: nullcontext(), timeout_seconds)


def test_facts_and_pages_in_one_numbering() -> None:
    search = Search(WebFacts(facts="Ada is mayor [1][2].\n\nSince 2025 [2]. Unknown [7].", results=PAGES))
    block = lookup(search).search_block(some_run("de"), "mayor of X")
    assert search.asked == [("mayor of X", "de")]
    assert "Ada is mayor [4] [5].\nSince 2025 [5]. Unknown." in block
    passages = parse_passages(block)
    assert [passage.number for passage in passages] == [4, 5]
    assert passages[0].place == "Mayor of X – https://www.example.org/a, 2026-03-02"
    assert passages[1].place == "https://example.com/b"
    assert "2026-11-30" in block
    assert "outranks" in block


@pytest.mark.parametrize(
    "outcome",
    [
        WebFacts(),
        WebFacts(facts=" \n"),
        ProviderUnavailable("x"),
        BudgetExceeded("x"),
        RuntimeError("x"),
        ToolError("x"),
    ],
)
def test_any_failure_gives_the_sentinel(outcome: WebFacts | Exception) -> None:
    # WS-04
    assert lookup(Search(outcome)).search_block(some_run(), "q") == NO_CURRENT_DATA


def test_a_search_that_hangs_gives_the_sentinel() -> None:
    # WS-04
    released = threading.Event()

    class Hanging(Search):
        def search(self, run: Run, query: str, language: str, timeout_seconds: float) -> WebFacts:
            released.wait(30)
            return WebFacts(facts="late")

    try:
        assert lookup(Hanging(WebFacts()), timeout_seconds=0.05).search_block(some_run(), "q") == NO_CURRENT_DATA
    finally:
        released.set()


def test_search_beside_another_keeps_silent() -> None:
    # WS-05
    told: list[str] = []

    @contextmanager
    def telling(run: Run) -> Iterator[None]:
        told.append(run.id)
        yield

    now = datetime(2026, 11, 30, tzinfo=UTC)
    web = WebLookup(Search(WebFacts()), Reader(""), number, lambda: now, telling)
    web.search_block(some_run(), "q", tells=False)
    assert told == []
    web.search_block(some_run(), "q")
    assert told == ["run"]


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=120))
def test_no_page_can_pass_for_another(texts: list[str], facts: str) -> None:
    pages = tuple(WebResult(url="https://example.org/x", title=text, text=text) for text in texts)
    block = lookup(Search(WebFacts(facts=facts, results=pages))).search_block(some_run(), "q")
    if block != NO_CURRENT_DATA:
        assert [passage.number for passage in parse_passages(block)] == list(range(4, 4 + len(pages)))


def test_long_pages_come_in_parts() -> None:
    pages = lookup(Search(WebFacts()), "word " * 9_000)
    first, last = pages.page_block(some_run(), "https://example.org", 1), pages.page_block(some_run(), "https://x", 3)
    assert first.startswith("[4] A page – https://example.org\nword word")
    assert "(Part 1 of 3. " in first
    assert "(Part 3 of 3. " in last
    with pytest.raises(ToolError, match="only 3 parts"):
        pages.page_block(some_run(), "https://example.org", 4)


@pytest.mark.parametrize(
    ("asked", "noted"), [("https://example.org", None), ("https://short.example", "https://short.example")]
)
def test_page_is_known_for_where_it_was_asked_for(asked: str, noted: str | None) -> None:  # AG-16
    class Redirected:
        def read(self, url: str) -> WebPage:
            return WebPage("https://example.org", "A page", "text")

    seen: list[WebResult] = []

    def number(run: Run, results: Sequence[WebResult]) -> Sequence[int]:
        seen.extend(results)
        return [1]

    now = datetime(2026, 11, 30, tzinfo=UTC)
    pages = WebLookup(Search(WebFacts()), Redirected(), number, lambda: now, lambda run: nullcontext())
    assert pages.page_block(some_run(), asked, 1).startswith("[1] A page – https://example.org\n")
    assert [result.redirected_from for result in seen] == [noted]


def test_site_of() -> None:
    assert [site_of(url) for url in ("https://www.a.org/x", "http://b.c:8080", "nonsense")] == [
        "a.org",
        "b.c",
        "nonsense",
    ]
