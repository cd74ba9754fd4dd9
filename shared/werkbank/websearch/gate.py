"""What a search needs of the gate to the models, on the run's account, and the numbers of the pages it finds."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import JsonValue

from werkbank.ai.operations import Operation
from werkbank.ai.protocols import ChatRequest, SearchAnswer
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope
from werkbank.domain.ids import derived_id
from werkbank.domain.messages import Message
from werkbank.domain.runs import Run, Source
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.websearch.model import WebFacts, WebResult, site_of

_QUOTE_CHARACTERS = 500
_TRANSLATION_TOKENS = 1_024
_TRANSLATION_SECONDS = 15.0
_TRANSLATE = """\
Translate every line into the language with the code “{language}” (BCP 47), politely, as said to a person who waits. \
Reply with the translated lines only, one a line, in the same order, without numbers or quotation marks."""


class GateSearch:
    """Searches with whatever provider the gate offers."""

    def __init__(self, ai: AiService) -> None:
        self._ai = ai

    def search(self, run: Run, query: str, language: str, timeout_seconds: float) -> WebFacts:
        """Return what the search found. Raises BudgetExceeded, UserError, ProviderError."""
        scope = CallScope(run.principal, "search", run_id=run.id, workflow_id=run.workflow_id)
        return facts_of(self._ai.search(scope, query, language, timeout_seconds))


def facts_of(found: SearchAnswer) -> WebFacts:
    """Return what a provider found as facts."""
    results = (
        WebResult(url=item.url, title=item.title, text=item.snippet, published=item.date) for item in found.results
    )
    return WebFacts(facts=found.text, results=tuple(results))


class GateTranslation:
    """Translates phrases; what it costs is booked with the search that they are told at."""

    def __init__(self, ai: AiService) -> None:
        self._ai = ai

    def __call__(self, run: Run, phrases: Sequence[str], language: str) -> Sequence[str]:
        """Return the lines of the answer. Raises BudgetExceeded, UserError, ProviderError."""
        asked = (
            Message(role="system", content=_TRANSLATE.format(language=language)),
            Message(role="user", content="\n".join(phrases)),
        )
        answer = self._ai.chat(
            CallScope(run.principal, "search", run_id=run.id, workflow_id=run.workflow_id),
            ChatRequest(messages=asked, max_output_tokens=_TRANSLATION_TOKENS),
            Operation.DATA_ANALYSE,
            timeout_seconds=_TRANSLATION_SECONDS,
            on_text=lambda _: None,
        )
        return [line for line in answer.assembled.message.content.splitlines() if line.strip()]


class SourceStore(Protocol):
    """Numbers the sources of a run."""

    def number(self, run_id: str, sources: Sequence[Source]) -> list[int]: ...


class SourceSession(Protocol):
    """The stores used here."""

    @property
    def citations(self) -> SourceStore: ...


class PageNumbers:
    """Gives pages of the web their numbers within a run."""

    def __init__(self, database: UnitOfWork[SourceSession]) -> None:
        self._database = database

    def __call__(self, run: Run, results: Sequence[WebResult]) -> Sequence[int]:
        """Return each page's number; a page seen before keeps its own."""
        with self._database.session(run.principal) as session:
            return session.citations.number(run.id, [_source(result) for result in results])


def _source(result: WebResult) -> Source:
    site = site_of(result.url)
    redirect: dict[str, JsonValue] = {"redirectedFrom": result.redirected_from} if result.redirected_from else {}
    return Source(
        # Led to by a stranger is not the same as found: a search may still find it.
        chunk_id=derived_id("web", result.url, *redirect),
        url=result.url,
        file_name=" ".join(result.title.split())[:200] or site,
        place=site,
        quote=result.text[:_QUOTE_CHARACTERS],
        ref=redirect,
    )
