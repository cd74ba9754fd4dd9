"""What is counted of tools and searches (WS-07)."""

from collections.abc import Iterator

import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_web import PAGE
from tests.scripted_model import SCRIPTED
from werkbank.ai.model import Model
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import Providers, SearchAnswer, SearchResult
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope, Purse
from werkbank.database.connection import Database
from werkbank.domain.errors import ToolsUnsupported
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
    assert (counted("ToolCalls"), counted("SearchForced")) == (1, 1)


def test_models_without_tools(database: Database, principal: Principal) -> None:
    # AI-07
    Harness(database, [[ToolsUnsupported("no tools")], ["Done."]]).ask(principal)
    assert counted("ToolUnsupported") == 1


def test_searches(database: Database, principal: Principal) -> None:
    class Found:
        def search(self, model: Model, query: str, timeout_seconds: float) -> SearchAnswer:
            return SearchAnswer((SearchResult(PAGE.title, PAGE.url, PAGE.text),))

    ai = AiService((SEARCHING,), Providers(search={SEARCHING.provider: Found()}), Purse(database))
    ai.search(CallScope(principal, "search"), "mayor of Bern", 5)
    assert counted("SearchCalls") == 1
