"""What a call costs in CHF. An unknown price gives None: it is not free, and a budget must refuse it."""

from decimal import Decimal

from werkbank.ai.model import Currency, Model, Price, Rates
from werkbank.domain.errors import BudgetExceeded
from werkbank.domain.messages import Usage
from werkbank.domain.money import round_chf, round_up_chf

# USD: 0.8089 on 2026-06-22 (tradingeconomics.com/switzerland/currency), rounded up so that estimates stay upper bounds.
# The one place where currencies meet; change the rate here.
_CHF_PER_UNIT: dict[Currency, Decimal] = {"CHF": Decimal(1), "USD": Decimal("0.81")}
_TOKENS_PER_PRICE = Decimal(1_000_000)


def estimate_chf(model: Model, input_tokens: int, output_tokens: int, units: int = 1) -> Decimal | None:
    """Return the most a call with at most these tokens and units can cost, rounded up: the amount to reserve.

    Every prompt token is taken at the dearer of fresh input and cache write, since either may happen.
    """
    if model.price is None:
        return None
    rates = model.price.rates_for(input_tokens)
    dearest_input = max(rates.input, rates.cache_write, rates.cached_input)
    tokens = input_tokens * dearest_input + output_tokens * rates.output
    return round_up_chf(_to_chf(model.price, tokens, units))


def is_free(model: Model) -> bool:
    """Tell whether a model's calls cost nothing, however long they are."""
    return estimate_chf(model, int(_TOKENS_PER_PRICE), int(_TOKENS_PER_PRICE)) == 0


def cost_chf(model: Model, usage: Usage, units: int = 1) -> Decimal | None:
    """Return what the call with this usage cost, cached tokens at their own rates, rounded to the ledger's unit."""
    if model.price is None:
        return None
    return round_chf(_to_chf(model.price, _amount(model.price.rates_for(usage.input_tokens), usage), units))


def reservation_chf(
    limit_chf: Decimal | None, model: Model, input_tokens: int, output_tokens: int, units: int = 1
) -> Decimal:
    """Return the most such a call can cost. An unknown price is refused where there is a limit to keep.

    Raises BudgetExceeded.
    """
    amount = estimate_chf(model, input_tokens, output_tokens, units)
    if amount is not None:
        return amount
    if limit_chf is not None:
        raise BudgetExceeded(f"The price of {model.label} is not known, so it cannot be used under a budget.")
    return Decimal(0)


def _amount(rates: Rates, usage: Usage) -> Decimal:
    fresh = max(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens)
    return (
        fresh * rates.input
        + usage.cached_input_tokens * rates.cached_input
        + usage.cache_write_tokens * rates.cache_write
        + usage.output_tokens * rates.output
    )


def _to_chf(price: Price, token_amount: Decimal, units: int) -> Decimal:
    return (token_amount / _TOKENS_PER_PRICE + units * price.unit) * _CHF_PER_UNIT[price.currency]
