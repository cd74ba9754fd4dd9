"""A search for development without keys: pages out of the secret, found by their words and marked as samples."""

import re
from collections import Counter
from collections.abc import Sequence

from werkbank.ai.model import Model
from werkbank.ai.protocols import SearchAnswer, SearchResult

_WORD = re.compile(r"\w{3,}")
_MAX_RESULTS = 3


class SamplePages:
    """Searches a handful of pages in place of the web."""

    def __init__(self, pages: Sequence[SearchResult]) -> None:
        self._pages = [(page, _words(f"{page.title} {page.snippet}")) for page in pages]
        self._holders = Counter(word for _, words in self._pages for word in words)

    def search(self, model: Model, query: str, language: str, timeout_seconds: float) -> SearchAnswer:
        """Return the pages that share words with the query, rare ones counting more; see `SearchProvider`."""
        wanted = _words(query)
        shared = [(page, wanted & words) for page, words in self._pages if wanted & words]
        shared.sort(key=lambda found: -sum(1 / self._holders[word] for word in found[1]))
        results = tuple(page for page, _ in shared[:_MAX_RESULTS])
        return SearchAnswer(results, "These are sample pages for development, not the web." if results else "")


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
