"""A search over given pages, without the gate and its account."""

from collections.abc import Sequence

from tests.scripted_model import SCRIPTED
from werkbank.ai.protocols import SearchResult
from werkbank.domain.runs import Run
from werkbank.providers.internal.sample_pages import SamplePages
from werkbank.websearch.gate import facts_of
from werkbank.websearch.model import WebFacts, WebResult


class PageSearch:
    """Finds pages by their words."""

    def __init__(self, pages: Sequence[WebResult] = ()) -> None:
        self._pages = SamplePages([SearchResult(page.title, page.url, page.text, page.published) for page in pages])

    def search(self, run: Run, query: str, language: str, timeout_seconds: float) -> WebFacts:
        return facts_of(self._pages.search(SCRIPTED, query, language, timeout_seconds))
