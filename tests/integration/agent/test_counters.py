"""What is counted of tools and searches (WS-07)."""

from collections.abc import Iterator

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_rights import allow
from tests.integration.agent.test_web import PAGE
from tests.integration.conftest import new_member
from tests.scripted_model import SCRIPTED
from werkbank.ai.model import Model
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import Providers, SearchAnswer, SearchResult
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope, Purse
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderError, ProviderUnavailable, ToolsUnsupported, UserError
from werkbank.domain.principal import Principal
from werkbank.observability import metrics

SEARCHING = SCRIPTED.model_copy(update={"id": "internal/search", "ratings": {Operation.WEB_SEARCH: 5}})


@pytest.fixture(autouse=True)
def _from_nothing() -> Iterator[None]:
    metrics.clear_metrics()
    yield
    metrics.clear_metrics()


def counted(name: str) -> float:
    """Return how often something was counted."""
    found = metrics.provider.metric_set.get(name)
    return sum(found["Value"]) if found else 0


def test_tool_calls_and_forced_searches(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[LIST_CALL], ["Anna Muster [1]."]], pages=(PAGE,))
    harness.ask(principal, "Who is the mayor of Bern?")
    assert (counted("tool_calls_total"), counted("search_forced_total")) == (1, 1)


def test_models_without_tools(database: Database, principal: Principal) -> None:
    # AI-07
    Harness(database, [[ToolsUnsupported("no tools")], ["Done."]]).ask(principal)
    assert counted("tool_unsupported_total") == 1


class Engine:
    """Finds a page, after its faults."""

    def __init__(self, *faults: ProviderError) -> None:
        self.faults = list(faults)

    def search(self, model: Model, query: str, language: str, timeout_seconds: float) -> SearchAnswer:
        if self.faults:
            raise self.faults.pop(0)
        return SearchAnswer((SearchResult(PAGE.title, PAGE.url, PAGE.text),))


def searching(database: Database, engine: Engine) -> AiService:
    """Return a gate that waits for nothing."""
    return AiService(
        (SEARCHING,), Providers(search={SEARCHING.provider: engine}), Purse(database), pause=lambda _: None
    )


def test_every_search_that_goes_out_is_counted(database: Database, principal: Principal) -> None:
    searching(database, Engine()).search(CallScope(principal, "search"), "mayor of Bern", "en", 5)
    assert counted("search_calls_total") == 1
    searching(database, Engine(ProviderUnavailable("x"))).search(CallScope(principal, "search"), "mayor", "en", 5)
    assert counted("search_calls_total") == 3


def test_search_that_nobody_may_make_is_not_counted(database: Database) -> None:
    admin = new_member(database, None, "admin")
    allow(database, admin, "", ["mistral"])
    ai = AiService(
        (SEARCHING.model_copy(update={"provider": "tavily"}),), Providers(search={"tavily": Engine()}), Purse(database)
    )
    with pytest.raises(UserError):
        ai.search(CallScope(admin, "search"), "mayor of Bern", "en", 5)
    assert counted("search_calls_total") == 0
