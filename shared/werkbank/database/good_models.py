"""The model configurations that have answered a mandate (AG-13)."""

from psycopg.types.json import Jsonb

from werkbank.ai.last_good import GoodModel
from werkbank.ai.operations import Operation
from werkbank.database.store import Store

_MOST = 20


class GoodModels(Store):
    """Those of the principal's mandate."""

    def keep(self, operation: Operation, good: GoodModel) -> None:
        """Note that a model has just answered."""
        self._run(
            """INSERT INTO good_model (mandate_id, operation, model_id, model, keys_version) VALUES (%s, %s, %s, %s, %s)
               ON CONFLICT (mandate_id, operation, model_id) DO UPDATE SET model = excluded.model,
                   keys_version = excluded.keys_version, answered_at = excluded.answered_at""",
            (
                self._principal.mandate_id, operation.value, good.model.id, Jsonb(good.model.to_wire()),
                good.keys_version,
            ),
        )  # fmt: skip

    def latest(self, operation: Operation) -> tuple[GoodModel, ...]:
        """Return what has answered, the latest first."""
        return self._list(
            GoodModel,
            "SELECT model, keys_version FROM good_model WHERE operation = %s"
            " ORDER BY answered_at DESC, model_id LIMIT %s",
            (operation.value, _MOST),
        )
