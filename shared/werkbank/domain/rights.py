"""Which models somebody may use (AI-05)."""

from collections.abc import Iterable

from pydantic import field_serializer

from werkbank.domain.base import WireModel


class ModelRight(WireModel):
    """What a mandate allows everyone (role empty) or a role; None means any."""

    role: str = ""
    providers: frozenset[str] | None = None
    models: frozenset[str] | None = None

    @field_serializer("providers", "models")
    def _in_order(self, names: frozenset[str] | None) -> list[str] | None:
        return None if names is None else sorted(names)

    def allows(self, provider: str, model: str) -> bool:
        """Tell whether this right covers a model."""
        return (self.providers is None or provider in self.providers) and (self.models is None or model in self.models)


def may_use(rights: Iterable[ModelRight], provider: str, model: str) -> bool:
    """Tell whether any of somebody's rights covers a model; who has no restricting row may use everything."""
    rows = tuple(rights)
    return not rows or any(right.allows(provider, model) for right in rows)


def for_everyone(rights: Iterable[ModelRight]) -> tuple[ModelRight, ...]:
    """Return those that do not depend on anybody's roles."""
    return tuple(right for right in rights if not right.role)
