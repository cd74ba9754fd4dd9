"""The product's own page reader as a provider (AI-01, AI-02 webCrawl)."""

from werkbank.ai.protocols import Page
from werkbank.ai.registry import listed_models
from werkbank.domain.errors import ToolError
from werkbank.providers.reader import PageReader
from werkbank.websearch.model import WebPage

MODEL = next(model for model in listed_models() if model.id == "reader/pages")


def test_what_cannot_be_read_is_told_and_the_rest_is_read() -> None:
    def read(url: str, timeout_seconds: float) -> WebPage:
        if "bad" in url:
            raise ToolError("The page answered with HTTP status 404.")
        return WebPage(url=f"{url}/", title="A", text="# A")

    urls = ["https://a.ch", "https://bad.ch", "https://b.ch"]
    extraction = PageReader(read).extract(MODEL, urls, 10)
    assert extraction.pages == (Page("https://a.ch/", "# A", "A"), Page("https://b.ch/", "# A", "A"))
    assert extraction.failed == ("https://bad.ch",)


def test_a_page_has_twenty_seconds_and_all_have_those_of_the_call() -> None:
    given: list[float] = []

    def read(url: str, timeout_seconds: float) -> WebPage:
        given.append(timeout_seconds)
        return WebPage(url=url, title="", text="x")

    PageReader(read).extract(MODEL, ["https://a.ch"], 60)
    PageReader(read).extract(MODEL, ["https://a.ch"], 0)
    assert given == [20, 0]


def test_addresses_that_are_not_of_the_open_web_are_refused() -> None:
    extraction = PageReader().extract(MODEL, ["http://127.0.0.1:9/", "file:///etc/passwd"], 10)
    assert (extraction.pages, len(extraction.failed)) == ((), 2)
