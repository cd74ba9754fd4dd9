"""Werkbank's own page reader as a provider: the stand-in where no service reads pages, or where it fails."""

from collections.abc import Callable, Sequence

from werkbank.ai.model import Model
from werkbank.ai.protocols import Extraction, Page
from werkbank.domain.errors import ToolError
from werkbank.providers.deadline import Deadline
from werkbank.websearch.model import WebPage

# Beyond this a page is better left out.
_SECONDS_PER_PAGE = 20.0


def _read(url: str, timeout_seconds: float) -> WebPage:
    from werkbank.web.reader import WebReader

    return WebReader(timeout_seconds=timeout_seconds).read(url)


class PageReader:
    """Reads pages itself. `read` takes an address and the seconds it has, and raises ToolError for what it cannot."""

    def __init__(self, read: Callable[[str, float], WebPage] = _read) -> None:
        self._read = read

    def extract(self, model: Model, urls: Sequence[str], timeout_seconds: float) -> Extraction:
        """Return the texts of the pages; see `ExtractionProvider`. A page that cannot be read is no fault."""
        deadline = Deadline(timeout_seconds)
        pages: list[Page] = []
        failed: list[str] = []
        for url in urls:
            try:
                page = self._read(url, min(_SECONDS_PER_PAGE, deadline.remaining))
            except ToolError:
                failed.append(url)
            else:
                pages.append(Page(page.url, page.text, page.title))
        return Extraction(tuple(pages), tuple(failed), units=len(urls))
