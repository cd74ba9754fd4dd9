"""Web search: what Perplexity and Tavily are asked, what their answers become, and their faults (WS-01, AG-11)."""

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.bench.wire_server import WireServer
from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Model
from werkbank.ai.operations import Operation
from werkbank.ai.pricing import cost_chf, estimate_chf
from werkbank.ai.protocols import Page, SearchResult
from werkbank.domain.errors import ProviderError, ProviderRefused, ProviderUnavailable, RateLimited, RequestRejected
from werkbank.domain.messages import Usage
from werkbank.providers.catalog import Catalog, build_catalog

PROVIDERS = ["perplexity", "tavily"]


@pytest.fixture
def catalog(server: WireServer) -> Catalog:
    keys = {"perplexityApiKey": "p", "tavilyApiKey": "t"}
    urls = {"perplexityBaseUrl": server.url, "tavilyBaseUrl": server.url}
    return build_catalog(ModelKeys.model_validate({**keys, **urls}))


def _model(catalog: Catalog, id: str) -> Model:
    return next(model for model in catalog.models if model.id == id)


def _answer(server: WireServer, body: dict[str, Any] | str, status: int = 200, **headers: str) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    server.reply([content.encode()], status=status, headers=headers, content_type="application/json")


def test_perplexity(server: WireServer, catalog: Catalog) -> None:
    found = {"title": "Bern", "url": "https://bern.ch", "snippet": "Die Stadt.", "date": "2026-11-01"}
    odd = {"title": "no page", "url": "javascript:alert(1)", "snippet": "x"}
    _answer(server, {"id": "1", "results": [{**found, "last_updated": "2026-11-02"}, odd], "server_time": None})
    model = _model(catalog, "perplexity/search")
    answer = catalog.providers.search["perplexity"].search(model, "Wer regiert Bern?", "de", 10)
    assert answer.results == (SearchResult("Bern", "https://bern.ch", "Die Stadt.", "2026-11-01"),)
    assert (answer.text, answer.units) == ("", 1)
    assert server.paths[-1] == "/search"
    assert server.request_headers[-1]["authorization"] == "Bearer p"
    assert json.loads(server.bodies[-1])["query"] == "Wer regiert Bern?"
    # 0.005 USD a request at 0.81 CHF the dollar.
    assert cost_chf(model, answer.usage, answer.units) == estimate_chf(model, 0, 0) == Decimal("0.00405")


def test_tavily(server: WireServer, catalog: Catalog) -> None:
    found = {"title": "Bern", "url": "https://bern.ch", "content": "x" * 9_000, "score": 0.9, "raw_content": None}
    news = {"title": "", "url": "https://sf.ch", "content": None, "published_date": "Mon, 30 Nov 2026 08:00:00 GMT"}
    _answer(server, {"query": "q", "answer": None, "results": [found, news], "usage": {"credits": 1}})
    answer = catalog.providers.search["tavily"].search(_model(catalog, "tavily/search"), "q" * 1_000, "en", 10)
    assert [(one.title, one.url, len(one.snippet), one.date) for one in answer.results] == [
        ("Bern", "https://bern.ch", 4_000, None),
        ("https://sf.ch", "https://sf.ch", 0, "Mon, 30 Nov 2026 08:00:00 GMT"),
    ]
    assert answer.units == 1
    sent = json.loads(server.bodies[-1])
    assert sent == {"query": "q" * 400, "search_depth": "basic", "max_results": 8, "include_usage": True}
    assert server.request_headers[-1]["authorization"] == "Bearer t"


@pytest.mark.parametrize(
    ("query", "language", "searched"),
    [
        ("Wer regiert Bern?", "de-CH", ["de", "en"]),
        ("Wer regiert Bern?", "en", ["en", "de"]),
        ("Who is the mayor of Bern?", "es", ["es", "en"]),
        ("Wer regiert Bern?", "gsw", ["de", "en"]),
    ],
)
def test_perplexity_finds_pages_that_the_reader_understands(
    query: str, language: str, searched: list[str], server: WireServer, catalog: Catalog
) -> None:
    # WS-01
    _answer(server, {"results": []})
    catalog.providers.search["perplexity"].search(_model(catalog, "perplexity/search"), query, language, 10)
    assert json.loads(server.bodies[-1])["search_language_filter"] == searched


@pytest.mark.parametrize(
    ("query", "language", "sent"),
    [
        ("Wer regiert Bern?", "de-CH", "Wer regiert Bern?"),
        ("Wer regiert Bern?", "es", "Wer regiert Bern? (language: es)"),
        ("Wer regiert Bern? " * 40, "es", ("Wer regiert Bern? " * 40)[:385] + " (language: es)"),
    ],
)
def test_tavily_is_told_the_readers_language_where_the_query_does_not_show_it(
    query: str, language: str, sent: str, server: WireServer, catalog: Catalog
) -> None:
    # WS-01
    _answer(server, {"results": []})
    catalog.providers.search["tavily"].search(_model(catalog, "tavily/search"), query, language, 10)
    assert json.loads(server.bodies[-1])["query"] == sent


def test_tavily_extract(server: WireServer, catalog: Catalog) -> None:
    pages = [{"url": "https://a.ch", "raw_content": "# A"}, {"url": "https://b.ch", "raw_content": None}]
    failed = [{"url": "https://c.ch", "error": "timeout"}]
    _answer(server, {"results": pages, "failed_results": failed, "response_time": 1.2, "usage": {"credits": 1}})
    model = _model(catalog, "tavily/extract")
    provider = catalog.providers.extraction["tavily"]
    extraction = provider.extract(model, ["https://a.ch", "https://b.ch", "https://c.ch"], 10)
    assert extraction.pages == (Page("https://a.ch", "# A"),)
    assert extraction.failed == ("https://c.ch",)
    assert cost_chf(model, Usage(), extraction.units) == Decimal("0.00648")
    assert server.paths[-1] == "/extract"
    assert provider.extract(model, [], 10).units == 0


def test_nothing_found_is_an_answer(server: WireServer, catalog: Catalog) -> None:
    for name in PROVIDERS:
        _answer(server, {"results": []})
        assert catalog.providers.search[name].search(_model(catalog, f"{name}/search"), "q", "en", 10).results == ()  # type: ignore[index]


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, {"detail": {"error": "Query is too long."}}, RequestRejected),
        (401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}, ProviderRefused),
        (401, "<html>401 Authorization Required</html>", ProviderRefused),
        (401, {"error": {"message": "no", "type": "insufficient_quota", "code": 401}}, ProviderRefused),
        (429, {"detail": {"error": "Your request has been blocked due to excessive requests."}}, RateLimited),
        (432, {"detail": {"error": "This request exceeds your plan's set usage limit."}}, ProviderRefused),
        (433, {"detail": {"error": "This request exceeds the pay-as-you-go limit."}}, ProviderRefused),
        (500, {"detail": {"error": "Internal Server Error"}}, ProviderUnavailable),
        (502, "<html>bad gateway</html>", ProviderUnavailable),
        (200, "no json", ProviderUnavailable),
        (200, {"results": "none"}, ProviderUnavailable),
    ],
)
def test_faults(
    name: str,
    status: int,
    body: dict[str, Any] | str,
    expected: type[ProviderError],
    server: WireServer,
    catalog: Catalog,
) -> None:
    _answer(server, body, status)
    before = len(server.bodies)
    with pytest.raises(ProviderError) as raised:
        catalog.providers.search[name].search(_model(catalog, f"{name}/search"), "q", "en", 10)  # type: ignore[index]
    assert type(raised.value) is expected
    assert len(server.bodies) == before + 1


@pytest.mark.parametrize("name", PROVIDERS)
def test_retry_after(name: str, server: WireServer, catalog: Catalog) -> None:
    _answer(server, {}, 429, **{"retry-after": "3"})
    with pytest.raises(RateLimited) as raised:
        catalog.providers.search[name].search(_model(catalog, f"{name}/search"), "q", "en", 10)  # type: ignore[index]
    assert raised.value.retry_after_seconds == 3


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("beginning", [b"", b'{"results": ['], ids=["at once", "in the middle"])
def test_a_search_never_hangs(name: str, beginning: bytes, server: WireServer, catalog: Catalog) -> None:  # WS-04
    def silence() -> Iterator[bytes]:
        yield beginning
        threading.Event().wait(2)

    server.reply(silence(), content_type="application/json")
    with pytest.raises(ProviderUnavailable):
        catalog.providers.search[name].search(_model(catalog, f"{name}/search"), "q", "en", 0.2)  # type: ignore[index]


def test_nobody_listens() -> None:
    keys = ModelKeys.model_validate({"tavilyApiKey": "t", "tavilyBaseUrl": "http://127.0.0.1:9"})
    catalog = build_catalog(keys)
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        catalog.providers.search["tavily"].search(_model(catalog, "tavily/search"), "q", "en", 10)


def test_search_providers_of_the_registry_are_those_of_the_catalog(catalog: Catalog) -> None:
    searching = {model.provider for model in catalog.models if Operation.WEB_SEARCH in model.ratings}
    assert searching == set(catalog.providers.search)
