"""Money: what a call can cost at most, and what it did cost (AG-06, AI-08)."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from werkbank.ai.model import Model
from werkbank.ai.pricing import cost_chf, estimate_chf
from werkbank.ai.registry import listed_models
from werkbank.domain.messages import Usage

MODELS = {model.id: model for model in listed_models()}
SONNET = MODELS["anthropic/claude-sonnet-5-5"]
HAIKU = MODELS["anthropic/claude-haiku-5-5"]


def test_cost_counts_cached_and_written_tokens_at_their_own_rates() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=0, cached_input_tokens=400_000, cache_write_tokens=100_000)
    # 0.5 M fresh at 2 USD, 0.4 M cached at 0.10, 0.1 M written at 2.50; 0.81 CHF the dollar.
    assert cost_chf(SONNET, usage) == Decimal("1.29") * Decimal("0.81")


def test_a_long_prompt_pays_the_long_rates_for_everything() -> None:
    assert cost_chf(HAIKU, Usage(input_tokens=100_000, output_tokens=1_000)) == Decimal("0.0105") * Decimal("0.81")
    assert cost_chf(HAIKU, Usage(input_tokens=200_000, output_tokens=1_000)) == Decimal("0.1025") * Decimal("0.81")


@given(
    st.sampled_from(sorted(MODELS)),
    st.integers(0, 400_000),
    st.integers(0, 128_000),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_no_usage_within_the_estimate_costs_more_than_it(
    model_id: str, tokens: int, output: int, cached: float, written: float
) -> None:
    cached_tokens = int(tokens * cached)
    usage = Usage(
        input_tokens=tokens,
        output_tokens=output,
        cached_input_tokens=cached_tokens,
        cache_write_tokens=int((tokens - cached_tokens) * written),
    )
    estimate, cost = estimate_chf(MODELS[model_id], tokens, output), cost_chf(MODELS[model_id], usage)
    assert estimate is not None
    assert cost is not None
    assert cost <= estimate


def test_what_is_billed_by_the_request_costs_by_the_request() -> None:
    search = MODELS["tavily/search"]
    # 0.008 USD a request at 0.81 CHF the dollar.
    assert estimate_chf(search, 100, 0) == cost_chf(search, Usage()) == Decimal("0.00648")
    assert cost_chf(search, Usage(), units=2) == estimate_chf(search, 0, 0, units=2) == Decimal("0.01296")
    assert cost_chf(search, Usage(), units=0) == 0


def test_an_unknown_price_is_not_free() -> None:
    unknown = Model.model_validate({**SONNET.model_dump(), "price": None})
    assert estimate_chf(unknown, 1, 1) is None
    assert cost_chf(unknown, Usage(input_tokens=1)) is None


def test_the_offline_models_cost_nothing() -> None:
    assert estimate_chf(MODELS["internal/extractive"], 10_000, 10_000) == 0
