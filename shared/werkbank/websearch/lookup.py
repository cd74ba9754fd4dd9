"""Looks things up on the web and writes them down for a model (WS-01, WS-04, WS-06).

The search gives facts, the answering model words the reply. A search that fails or takes too long gives a sentence that
says so: a model told nothing would fill the gap from memory.
"""

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime
from queue import Empty, SimpleQueue

from werkbank.domain.errors import ToolError
from werkbank.domain.passages import Passage, format_passages
from werkbank.domain.runs import Run
from werkbank.domain.time import describe_moment
from werkbank.observability import logger
from werkbank.websearch.model import WebFacts, WebResult, site_of
from werkbank.websearch.protocols import PageReader, SourceNumbers, WebSearch, WhileSearching

NO_CURRENT_DATA = (
    "No current data: the web could not be searched, or nothing was found. Tell the user that you have no current data "
    "on this. Do not present what you remember as the present state."
)
SEARCH_TIMEOUT_SECONDS = 15.0
_MAX_RESULTS = 8
_RESULT_CHARACTERS = 1_500
_PART_CHARACTERS = 20_000
_ADDRESS_CHARACTERS = 300
_MARK = re.compile(r"\s?\[(\d{1,3})\]")


class WebLookup:
    """The web, on a run's account."""

    def __init__(
        self,
        search: WebSearch,
        reader: PageReader,
        number: SourceNumbers,
        clock: Callable[[], datetime],
        while_searching: WhileSearching,
        timeout_seconds: float = SEARCH_TIMEOUT_SECONDS,
    ) -> None:
        self._search = search
        self._reader = reader
        self._number = number
        self._clock = clock
        self._while_searching = while_searching
        self._timeout_seconds = timeout_seconds

    def search_block(self, run: Run, query: str, *, tells: bool = True) -> str:
        """Return facts and numbered pages, or NO_CURRENT_DATA; no fault of a search gets through."""
        with self._while_searching(run) if tells else nullcontext():
            found = self._facts(run, query)
        results = found.results[:_MAX_RESULTS]
        if not results and not found.facts.strip():
            return NO_CURRENT_DATA
        numbers = self._number(run, results)
        head = (
            f"Searched the web on {describe_moment(self._clock(), run.zone)}. This is newer than what you remember and "
            "outranks it; where they differ, go by this."
        )
        facts = _renumbered(found.facts, numbers)
        pages = format_passages(
            Passage(number, _place(result), result.text[:_RESULT_CHARACTERS])
            for number, result in zip(numbers, results, strict=True)
        )
        return "\n\n".join(part for part in (head, facts, pages) if part)

    def page_block(self, run: Run, url: str, part: int) -> str:
        """Return a part of a page (20,000 characters, counted from 1) as a numbered passage. Raises ToolError."""
        page = self._reader.read(url)
        parts = max(1, -(-len(page.text) // _PART_CHARACTERS))
        if part > parts:
            raise ToolError(f"The page has only {parts} parts.")
        text = page.text[(part - 1) * _PART_CHARACTERS : part * _PART_CHARACTERS]
        asked = url if page.url != url else None
        result = WebResult(url=page.url, title=page.title, text=text, redirected_from=asked)
        [number] = self._number(run, [result])
        block = format_passages([Passage(number, _place(result), text)])
        return block if parts == 1 else f"{block}\n\n(Part {part} of {parts}. Ask for the others as you did for this.)"

    def _facts(self, run: Run, query: str) -> WebFacts:
        """Search in a thread of its own, whose end is not waited for beyond the time: nothing here may hang."""
        answers: SimpleQueue[WebFacts] = SimpleQueue()

        def search() -> None:
            try:
                answers.put(self._search.search(run, query, run.language, self._timeout_seconds))
            except Exception as error:  # whatever failed, the run goes on without the web
                logger.warning("web search failed", extra={"runId": run.id, "error": type(error).__name__})
                answers.put(WebFacts())

        threading.Thread(target=search, daemon=True).start()
        try:
            return answers.get(timeout=self._timeout_seconds)
        except Empty:
            logger.warning("web search took too long", extra={"runId": run.id})
            return WebFacts()


def _place(result: WebResult) -> str:
    # The whole address, so that a page can be read that a search has found.
    where = result.url if len(result.url) <= _ADDRESS_CHARACTERS else site_of(result.url)
    title = " ".join(result.title.split())[:150]
    place = f"{title} – {where}" if title else where
    return f"{place}, {result.published}" if result.published else place


def _renumbered(facts: str, numbers: Sequence[int]) -> str:
    """Turn the search's own marks, which count its results, into the run's; blank lines go as they do in passages."""

    def mark(found: re.Match[str]) -> str:
        position = int(found[1]) - 1
        return f" [{numbers[position]}]" if 0 <= position < len(numbers) else ""

    lines = (line.strip() for line in facts.splitlines())
    return "\n".join(_MARK.sub(mark, line).strip() for line in lines if line)
