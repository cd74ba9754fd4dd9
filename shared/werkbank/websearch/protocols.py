"""What web search needs from outside, and what others get from it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from werkbank.domain.messages import Message
from werkbank.domain.runs import Run
from werkbank.websearch.model import WebFacts, WebPage, WebResult

Rewrite = Callable[[Sequence[Message]], str]
"""Answers a short conversation with one line of text; may raise anything."""

Translate = Callable[[Run, Sequence[str], str], Sequence[str]]
"""Translates phrases into a language (BCP 47), in their order, on a run's account; may raise anything."""

WhileSearching = Callable[[Run], AbstractContextManager[None]]
"""Gives a block that is entered for as long as a run's search takes (WS-05)."""


class WebSearch(Protocol):
    """Searches the web on a run's account."""

    def search(self, run: Run, query: str, language: str, timeout_seconds: float) -> WebFacts:
        """Return facts for a reader of a language (BCP 47) and the pages they rest on, best first.

        `timeout_seconds` bounds the whole search. Raises ProviderError types, UserError types.
        """
        ...


class PageReader(Protocol):
    """Reads pages of the open web."""

    def read(self, url: str) -> WebPage:
        """Return a page's main text. Raises ToolError with a sentence for the model."""
        ...


class SourceNumbers(Protocol):
    """Numbers the pages that a run may cite."""

    def __call__(self, run: Run, results: Sequence[WebResult]) -> Sequence[int]:
        """Return each page's number within the run; a page seen before keeps its number."""
        ...


class WebAccess(Protocol):
    """The web as tools see it: texts ready to be read and cited."""

    def search_block(self, run: Run, query: str, *, tells: bool = True) -> str:
        """Return facts and numbered pages, or the sentence that says there are none; never raises for a fault.

        `tells` off keeps silent while it searches: of searches side by side one tells (WS-05).
        """
        ...

    def page_block(self, run: Run, url: str, part: int) -> str:
        """Return a part of a page, counted from 1, as a numbered passage. Raises ToolError."""
        ...
