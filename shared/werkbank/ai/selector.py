"""Which model answers, and which stand in for it (AI-03, AG-18). Pure: data in, an order out."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from werkbank.ai.model import Capability, Model, ProviderName
from werkbank.ai.operations import Operation
from werkbank.domain.errors import InvalidInput, TooLarge, UserError
from werkbank.domain.runs import Complexity

_INTERNAL_ONLY = frozenset({Operation.NEUTRALIZATION_TEXT, Operation.NEUTRALIZATION_IMAGE})
_UNKNOWN_PRICE = Decimal("Infinity")
# Higher ratings than this make no difference to such a question: among those the price decides.
_ENOUGH: dict[Complexity | None, int] = {"simple": 4, "moderate": 8}
_BEST = 10


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """How the model of a call is chosen.

    `fixed` (an id) is its user's or the configuration's own choice: the selector takes nothing else in its place (what
    a broken choice falls back to, and says so, is `last_good.py`'s business). Otherwise the price decides among those
    that are good enough for the `complexity`; None wants the best. `kept` (an id) has answered the run so far and goes
    on as long as it can, because its provider has the prompt cached; `kept_under` is the version of the keys whose
    address it stood in at, where that is one from before.
    """

    fixed: str | None = None
    complexity: Complexity | None = None
    kept: str | None = None
    kept_under: str | None = None


BEST_MODEL = ModelChoice()


@dataclass(frozen=True, slots=True)
class ModelWish:
    """What a call needs. None for providers or models means: any. Token counts are upper bounds.

    Models without what the call `prefers` come after all that have it.
    """

    operation: Operation
    prompt_tokens: int = 0
    output_tokens: int = 0
    needs: frozenset[Capability] = frozenset()
    prefers: frozenset[Capability] = frozenset()
    allowed_providers: frozenset[ProviderName] | None = None
    allowed_models: frozenset[str] | None = None
    internal_only: bool = False
    choice: ModelChoice = BEST_MODEL


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
    ranked = _spread_over_providers(sorted(external or fitting, key=lambda model: _rank(model, wish)))
    return tuple(
        sorted(ranked, key=lambda model: (model.id != wish.choice.kept, not wish.prefers <= model.capabilities))
    )


def _is_able(model: Model, wish: ModelWish) -> bool:
    return (
        (wish.operation in model.ratings)
        and (wish.choice.fixed is None or model.id == wish.choice.fixed)
        and wish.needs <= model.capabilities
        and (wish.allowed_providers is None or model.provider in wish.allowed_providers)
        and (wish.allowed_models is None or model.id in wish.allowed_models)
        and (model.is_internal or not (wish.internal_only or wish.operation in _INTERNAL_ONLY))
    )


def _rank(model: Model, wish: ModelWish) -> tuple[int, Decimal, int, str]:
    rating = model.ratings[wish.operation]
    price = model.price.input + model.price.output + model.price.unit if model.price else _UNKNOWN_PRICE
    return (-min(rating, _ENOUGH.get(wish.choice.complexity, _BEST)), price, -rating, model.id)


def _spread_over_providers(ranked: Sequence[Model]) -> tuple[Model, ...]:
    """Reorder so that every provider's best comes before anyone's second best: outages hit whole providers."""
    turns: dict[str, int] = defaultdict(int)
    order: list[tuple[int, int, Model]] = []
    for position, model in enumerate(ranked):
        order.append((turns[model.provider], position, model))
        turns[model.provider] += 1
    return tuple(model for _, _, model in sorted(order, key=lambda entry: entry[:2]))


def _missing(wish: ModelWish) -> UserError:
    if wish.choice.fixed is not None:
        return InvalidInput(f"The model {wish.choice.fixed} is not available for this. Choose another one.")
    if wish.internal_only or wish.operation in _INTERNAL_ONLY:
        return UserError(f"No internal model can do “{wish.operation}”, and nothing else is allowed for this content.")
    return UserError(f"No available model can do “{wish.operation}”. Add a provider's key or allow more models.")
