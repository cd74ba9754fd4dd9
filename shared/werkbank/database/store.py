"""What every store is made of."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import psycopg
from psycopg.rows import DictRow
from pydantic import BaseModel

from werkbank.domain.errors import NotFound
from werkbank.domain.principal import Principal

Parameters = Sequence[object] | Mapping[str, object]
Model = TypeVar("Model", bound=BaseModel)


class Store:
    """Runs SQL on the session's connection and reads rows into models."""

    def __init__(self, connection: psycopg.Connection[DictRow], principal: Principal) -> None:
        self._connection = connection
        self._principal = principal

    def _run(self, sql: str, parameters: Parameters = ()) -> None:
        """Send a statement without waiting for its outcome."""
        self._connection.execute(sql.encode(), parameters)

    def _touched(self, sql: str, parameters: Parameters = ()) -> int:
        """Execute a statement; return how many rows it touched."""
        return len(self._rows(f"{sql} RETURNING true", parameters))

    def _row(self, sql: str, parameters: Parameters = ()) -> DictRow | None:
        return self._connection.execute(sql.encode(), parameters).fetchone()

    def _rows(self, sql: str, parameters: Parameters = ()) -> list[DictRow]:
        return self._connection.execute(sql.encode(), parameters).fetchall()

    def _find(self, model: type[Model], sql: str, parameters: Parameters = ()) -> Model | None:
        row = self._row(sql, parameters)
        return model.model_validate(row) if row else None

    def _get(self, model: type[Model], what: str, sql: str, parameters: Parameters = ()) -> Model:
        """Return the row as a model, or raise NotFound naming what was looked for."""
        found = self._find(model, sql, parameters)
        if found is None:
            raise NotFound(f"There is no such {what}, or it is not yours.")
        return found

    def _list(self, model: type[Model], sql: str, parameters: Parameters = ()) -> tuple[Model, ...]:
        return tuple(model.model_validate(row) for row in self._rows(sql, parameters))
