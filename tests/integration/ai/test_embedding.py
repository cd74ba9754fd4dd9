"""Embeddings through the gate and a real ledger (AI-05, AI-08)."""

from collections.abc import Iterator, Sequence

import pytest

from tests.integration.agent.harness import Harness
from werkbank.ai.model import Model
from werkbank.ai.protocols import Embeddings, Providers
from werkbank.ai.registry import listed_models
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope, Purse
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.messages import Usage
from werkbank.domain.principal import Principal

MODEL = next(model for model in listed_models() if model.id == "openai/text-embedding-3-small")


class BreaksOff:
    """Answers two requests of a call, and fails at the third."""

    def embed(self, model: Model, texts: Sequence[str], timeout_seconds: float) -> Iterator[Embeddings]:
        for _ in range(2):
            yield Embeddings([[0.0] * 1536], Usage(input_tokens=100_000))
        raise ProviderUnavailable("gone")


def test_what_was_embedded_before_a_fault_is_paid_for(database: Database, principal: Principal) -> None:
    run_id = Harness(database, []).start(principal).run_id
    ai = AiService((MODEL,), Providers(embedding={"openai": BreaksOff()}), Purse(database))
    with pytest.raises(ProviderUnavailable):
        ai.embed(CallScope(principal, "embedding", run_id=run_id), ["a", "b", "c"], "passage", 10)
    with database.session(principal) as session:
        (charge,) = session.ledger.charges(run_id)
    assert (charge.status, charge.input_tokens) == ("settled", 200_000)
    assert charge.cost_chf
