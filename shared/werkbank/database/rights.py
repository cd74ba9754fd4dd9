"""Which providers and models a mandate lets its people use. Row-level security lets only administrators change it."""

from collections.abc import Sequence

from werkbank.database.store import Store
from werkbank.domain.rights import ModelRight


class ModelRights(Store):
    """The rights of the principal's mandate."""

    def all(self) -> tuple[ModelRight, ...]:
        """Return everyone's right, then those of roles in order."""
        return self._list(ModelRight, "SELECT role, providers, models FROM model_right ORDER BY role")

    def replace(self, rights: Sequence[ModelRight]) -> None:
        """Put these rights, one a role, in place of all others. Raises Forbidden for whoever may not."""
        for right in sorted(rights, key=lambda right: right.role):  # in one order, so that no two wait for each other
            self._run(
                "INSERT INTO model_right (mandate_id, role, providers, models) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (mandate_id, role)"
                " DO UPDATE SET providers = excluded.providers, models = excluded.models",
                (self._principal.mandate_id, right.role, _names(right.providers), _names(right.models)),
            )
        self._run("DELETE FROM model_right WHERE role <> ALL (%s)", ([right.role for right in rights],))


def _names(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)
