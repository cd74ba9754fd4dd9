"""The search for development without keys: where it is asked, what it finds, and that it says what it is."""

import json
from pathlib import Path

from infra.local import model_keys
from werkbank.ai.keys import ModelKeys
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import SearchResult
from werkbank.ai.registry import available_models
from werkbank.ai.selector import ModelWish, select_models
from werkbank.providers.catalog import build_catalog

PAGES = json.loads(Path(model_keys.__file__).with_name("search_pages.json").read_text(encoding="utf-8"))


def searching(keys: dict[str, object]) -> list[str]:
    """Return who may be asked."""
    models = available_models(ModelKeys.model_validate(keys))
    return [model.id for model in select_models(models, ModelWish(Operation.WEB_SEARCH))]


def found(query: str) -> tuple[tuple[SearchResult, ...], str]:
    catalog = build_catalog(ModelKeys.model_validate({"searchPages": PAGES}))
    (model,) = (model for model in catalog.models if Operation.WEB_SEARCH in model.ratings)
    answer = catalog.providers.search["internal"].search(model, query, "de", 10)
    return answer.results, answer.text


def test_finds_by_words_and_says_what_it_is() -> None:
    results, text = found("Öffnungszeiten Museum")
    assert results[0].url == "https://example.org/museum/visit"
    assert "sample pages" in text
    assert found("Who is the mayor of Oberdorf?")[0][0].title == "Council of Oberdorf: members"
    assert found("zzz") == ((), "")


def test_nothing_real_is_ever_replaced_by_sample_pages() -> None:
    assert searching({"searchPages": PAGES}) == ["internal/sample-pages"]
    assert searching({"searchPages": PAGES, "tavilyApiKey": "t"}) == ["tavily/search"]


def test_without_pages_nothing_searches() -> None:
    assert not [model for model in available_models(ModelKeys()) if Operation.WEB_SEARCH in model.ratings]
