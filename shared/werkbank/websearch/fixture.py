"""A search for development without keys: a handful of made-up pages, found by their words and marked as samples."""

import json
import re
from importlib.resources import files

from werkbank.domain.runs import Run
from werkbank.websearch.model import WebFacts, WebResult

_WORD = re.compile(r"\w{3,}")
_MAX_RESULTS = 3


class FixtureSearch:
    """Searches the pages of `fixture.json`, or others given."""

    def __init__(self, pages: tuple[WebResult, ...] | None = None) -> None:
        self._pages = _sample_pages() if pages is None else pages

    def search(self, run: Run, query: str, language: str, timeout_seconds: float) -> WebFacts:
        """Return the pages that share most words with the query; none that share none."""
        wanted = _words(query)
        ranked = sorted(self._pages, key=lambda page: -len(wanted & _words(f"{page.title} {page.text}")))
        results = tuple(page for page in ranked[:_MAX_RESULTS] if wanted & _words(f"{page.title} {page.text}"))
        facts = "These are sample pages for development, not the web." if results else ""
        return WebFacts(facts=facts, results=results)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _sample_pages() -> tuple[WebResult, ...]:
    rows = json.loads(files("werkbank.websearch").joinpath("fixture.json").read_text(encoding="utf-8"))
    return tuple(map(WebResult.model_validate, rows))
