"""Which model answers, and which stand in for it (AI-03). Pure: data in, an order out."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from werkbank.ai.model import Capability, Model, ProviderName
from werkbank.ai.operations import Operation
from werkbank.domain.errors import InvalidInput, TooLarge, UserError

_INTERNAL_ONLY = frozenset({Operation.NEUTRALIZATION_TEXT, Operation.NEUTRALIZATION_IMAGE})
_UNKNOWN_PRICE = Decimal("Infinity")


@dataclass(frozen=True, slots=True)
class ModelWish:
    """What a call needs. None for providers or models means: any. Token counts are upper bounds.

    A `fixed_model` (an id) is the user's own choice: nothing else is ever taken in its place.
    """

    operation: Operation
    prompt_tokens: int = 0
    output_tokens: int = 0
    needs: frozenset[Capability] = frozenset()
    allowed_providers: frozenset[ProviderName] | None = None
    allowed_models: frozenset[str] | None = None
    internal_only: bool = False
    fixed_model: str | None = None


def select_models(models: Iterable[Model], wish: ModelWish) -> tuple[Model, ...]:
    """Return the candidates in the order they should be tried; neighbours are of different providers where possible.

    The internal model quotes rather than thinks, so it never stands in silently for a real one: it is a candidate only
    where nothing else is. Raises `UserError` types that say what is missing.
    """
    able = [model for model in models if _is_able(model, wish)]
    if not able:
        raise _missing(wish)
    fitting = [model for model in able if wish.prompt_tokens + wish.output_tokens <= model.context_window]
    if not fitting:
        raise TooLarge(
            f"The request of about {wish.prompt_tokens:,} tokens is larger than any available model can read "
            f"({max(model.context_window for model in able):,} tokens)."
        )
    external = [model for model in fitting if not model.is_internal]
    return _spread_over_providers(sorted(external or fitting, key=lambda model: _rank(model, wish.operation)))


def _is_able(model: Model, wish: ModelWish) -> bool:
    return (
        (wish.operation in model.ratings)
        and (wish.fixed_model is None or model.id == wish.fixed_model)
        and wish.needs <= model.capabilities
        and (wish.allowed_providers is None or model.provider in wish.allowed_providers)
        and (wish.allowed_models is None or model.id in wish.allowed_models)
        and (model.is_internal or not (wish.internal_only or wish.operation in _INTERNAL_ONLY))
    )


def _rank(model: Model, operation: Operation) -> tuple[int, Decimal, str]:
    price = model.price.input + model.price.output + model.price.unit if model.price else _UNKNOWN_PRICE
    return (-model.ratings[operation], price, model.id)


def _spread_over_providers(ranked: Sequence[Model]) -> tuple[Model, ...]:
    """Reorder so that every provider's best comes before anyone's second best: outages hit whole providers."""
    turns: dict[str, int] = defaultdict(int)
    order: list[tuple[int, int, Model]] = []
    for position, model in enumerate(ranked):
        order.append((turns[model.provider], position, model))
        turns[model.provider] += 1
    return tuple(model for _, _, model in sorted(order, key=lambda entry: entry[:2]))


def _missing(wish: ModelWish) -> UserError:
    if wish.fixed_model is not None:
        return InvalidInput(f"The model {wish.fixed_model} is not available for this. Choose another one.")
    if wish.internal_only or wish.operation in _INTERNAL_ONLY:
        return UserError(f"No internal model can do “{wish.operation}”, and nothing else is allowed for this content.")
    return UserError(f"No available model can do “{wish.operation}”. Add a provider's key or allow more models.")
