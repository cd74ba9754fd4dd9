"""Web search by Perplexity and Tavily over their REST APIs.

Both return what they found and no words of their own, since the answering model words the reply (WS-01). Perplexity's
Sonar, which did, ended on 2026-09-27; its Search API is what remains without a model in between.
https://docs.perplexity.ai/api-reference/search-post, https://docs.perplexity.ai/docs/search/filters/language-filter,
https://docs.tavily.com/documentation/api-reference/introduction
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, Field, ValidationError

from werkbank.ai.model import Model
from werkbank.ai.protocols import Extraction, Page, SearchAnswer, SearchResult
from werkbank.domain.errors import ProviderError, ProviderUnavailable
from werkbank.providers.deadline import Deadline
from werkbank.providers.faults import fault
from werkbank.websearch.language import likely_languages, primary_language

if TYPE_CHECKING:
    from httpx2 import Client, Response

_CONNECT_SECONDS = 10.0
_MAX_RESULTS = 8
_TOKENS_PER_PAGE = 512
# Longer queries are refused by Tavily.
_QUERY_LENGTH = 400
_SNIPPET_LENGTH = 4_000
_ISO_639_1_LENGTH = 2
# Tavily's limits of one call: the plan's credits, then the pay-as-you-go limit.
_TAVILY_SPENT = (432, 433)

_Form = TypeVar("_Form", bound=BaseModel)


class _Found(BaseModel):
    url: str | None = None
    title: str | None = None
    snippet: str | None = Field(default=None, validation_alias="content")
    date: str | None = Field(default=None, validation_alias="published_date")


class _PerplexityFound(_Found):
    snippet: str | None = None
    date: str | None = None


class _PerplexityAnswer(BaseModel):
    results: list[_PerplexityFound] = Field(default_factory=list)


class _Credits(BaseModel):
    credits: float = Field(default=1, ge=0, allow_inf_nan=False)


class _TavilyAnswer(BaseModel):
    results: list[_Found] = Field(default_factory=list)
    usage: _Credits = Field(default_factory=_Credits)


class _Read(BaseModel):
    url: str
    title: str | None = None
    raw_content: str | None = None


class _TavilyExtraction(BaseModel):
    results: list[_Read] = Field(default_factory=list)
    failed_results: list[_Read] = Field(default_factory=list)
    usage: _Credits = Field(default_factory=_Credits)


class PerplexitySearch:
    """Searches with Perplexity's Search API."""

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api = _Rest("Perplexity", base_url or "https://api.perplexity.ai", api_key)

    def search(self, model: Model, query: str, language: str, timeout_seconds: float) -> SearchAnswer:
        """Return what is found; see `SearchProvider`."""
        body = {
            "query": query,
            "max_results": _MAX_RESULTS,
            "max_tokens_per_page": _TOKENS_PER_PAGE,
            "search_language_filter": _languages_of_pages(query, language),
        }
        answer = self._api.post("/search", body, _PerplexityAnswer, timeout_seconds)
        return SearchAnswer(_results(answer.results))


class TavilySearch:
    """Searches and reads pages with Tavily."""

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api = _Rest("Tavily", base_url or "https://api.tavily.com", api_key)

    def search(self, model: Model, query: str, language: str, timeout_seconds: float) -> SearchAnswer:
        """Return what is found; see `SearchProvider`."""
        body = {
            "query": _naming_language(query, primary_language(language)),
            "search_depth": "basic",
            "max_results": _MAX_RESULTS,
            "include_usage": True,
        }
        answer = self._api.post("/search", body, _TavilyAnswer, timeout_seconds)
        return SearchAnswer(_results(answer.results), units=ceil(answer.usage.credits))

    def extract(self, model: Model, urls: Sequence[str], timeout_seconds: float) -> Extraction:
        """Return the texts of the pages; see `ExtractionProvider`."""
        if not urls:
            return Extraction((), units=0)
        body = {"urls": list(urls), "extract_depth": "basic", "format": "markdown", "include_usage": True}
        answer = self._api.post("/extract", body, _TavilyExtraction, timeout_seconds)
        pages = tuple(Page(page.url, page.raw_content, page.title or "") for page in answer.results if page.raw_content)
        failed = tuple(page.url for page in answer.failed_results)
        return Extraction(pages, failed, units=ceil(answer.usage.credits))


def _languages_of_pages(query: str, language: str) -> list[str]:
    """Return the ISO 639-1 codes of pages that may answer: only they are found, so the query's own count, and English.

    A person whose browser speaks English may ask in German, and much is told in English alone.
    """
    codes = dict.fromkeys((primary_language(language), *likely_languages(query), "en"))
    return [code for code in codes if len(code) == _ISO_639_1_LENGTH]


def _naming_language(query: str, language: str) -> str:
    """Say which language is read where the query does not show it: Tavily has no parameter for it."""
    if language in likely_languages(query):
        return query[:_QUERY_LENGTH]
    wish = f" (language: {language})"
    return query[: _QUERY_LENGTH - len(wish)] + wish


def _results(found: Sequence[_Found]) -> tuple[SearchResult, ...]:
    """Keep what can be cited: an address of the web and a text."""
    return tuple(
        SearchResult(one.title or one.url, one.url, (one.snippet or "")[:_SNIPPET_LENGTH], one.date)
        for one in found
        if one.url and one.url.startswith(("https://", "http://"))
    )


class _Rest:
    """A JSON API with a bearer key. Its client is made when first used."""

    def __init__(self, provider: str, base_url: str, api_key: str) -> None:
        self._provider = provider
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key

    def post(self, path: str, body: object, form: type[_Form], timeout_seconds: float) -> _Form:
        """Return the answer in its form. Raises the `ProviderError` types."""
        from httpx2 import StreamError, Timeout, TransportError

        deadline = Deadline(timeout_seconds)
        timeout = Timeout(timeout_seconds, connect=min(_CONNECT_SECONDS, timeout_seconds))
        try:
            with (
                self._client.stream("POST", self._base_url + path, json=body, timeout=timeout) as response,
                deadline.enforced_on(response),
            ):
                content = response.read()
        except (TransportError, StreamError) as error:
            raise self._connection_fault(error) from error
        if response.status_code != 200:
            raise self._status_fault(response)
        try:
            return form.model_validate_json(content)
        except ValidationError as error:
            raise ProviderUnavailable(f"{self._provider} gave an answer that cannot be read.") from error

    @cached_property
    def _client(self) -> Client:
        from httpx2 import Client

        return Client(headers={"authorization": f"Bearer {self._api_key}"})

    def _connection_fault(self, error: Exception) -> ProviderError:
        from httpx2 import ConnectError

        cannot = "cannot be reached" if isinstance(error, ConnectError) else "did not answer in time"
        return ProviderUnavailable(f"{self._provider} {cannot}.")

    def _status_fault(self, response: Response) -> ProviderError:
        codes = ["insufficient_quota"] if response.status_code in _TAVILY_SPENT else _codes(response.content)
        return fault(self._provider, response.status_code, codes, response.headers)


class _Reported(BaseModel):
    code: str | int | None = None
    type: str | None = None


class _ErrorBody(BaseModel):
    error: _Reported | None = None


def _codes(content: bytes) -> list[object]:
    """Return the words for the fault, where the body has any in OpenAI's form."""
    try:
        reported = _ErrorBody.model_validate_json(content).error
    except ValidationError:
        return []
    return [reported.code, reported.type] if reported is not None else []
