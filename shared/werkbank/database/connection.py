"""Connections and units of work. The only place that opens a transaction.

A session is a pipeline: statements whose answer nobody waits for travel together with the next one that somebody does,
BEGIN and COMMIT included. Faults of such a statement are raised there, at the latest when the session ends.
https://www.postgresql.org/docs/current/libpq-pipeline-mode.html
A step is a single statement, which is a transaction by itself.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import psycopg
from psycopg import errors as pg
from psycopg.rows import DictRow, dict_row
from psycopg.types.string import TextLoader
from psycopg_pool import ConnectionPool, PoolTimeout

from werkbank.database.characters import configure_text
from werkbank.database.session import Session
from werkbank.database.steps import Steps
from werkbank.domain.errors import (
    BudgetExceeded,
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    RunOver,
    StorageUnavailable,
)
from werkbank.domain.principal import Principal

Connection = psycopg.Connection[DictRow]

# Aurora Serverless resumes from a pause in about 15 s; a caller waits that long before it is told.
_WAIT_SECONDS = 25.0
# One function works on one event at a time: its own thread, the sender of text and a spare.
_POOL_SIZE = 4
# A container is frozen between events, and thaws with connections that the server has long closed: after a silence of
# this length they are tried before they are used.
_SILENCE_SECONDS = 1.0

# What it logs of errors behind another error may quote rows; the first error is raised anyway.
logging.getLogger("psycopg").disabled = True

_ACT_AS = "werkbank.act_as(%s, %s, %s)"


class Database:
    """The database as the functions' role sees it. `connection_string` is asked for once, when first needed."""

    def __init__(self, connection_string: Callable[[], str], wait_seconds: float = _WAIT_SECONDS) -> None:
        self._connection_string = connection_string
        self._wait_seconds = wait_seconds
        self._pool: ConnectionPool[Connection] | None = None
        self._lock = Lock()
        self._used_at = 0.0

    @contextmanager
    def session(self, principal: Principal) -> Iterator[Session]:
        """Open one transaction that sees what the principal may see; commits at the end, rolls back on an error.

        Raises:
            NotFound, Conflict, Forbidden, InvalidInput: what the database refused, in the domain's words.
            StorageUnavailable: the database cannot be reached.
        """
        with self._connection() as connection, connection.pipeline():
            # Not commit(), nor transaction(): they wait for the server, which the end of the pipeline does anyway.
            connection.execute(b"BEGIN")
            connection.execute(f"SELECT {_ACT_AS}".encode(), _settings(principal))
            yield Session(connection, principal)
            connection.execute(b"COMMIT")

    def step(self, principal: Principal) -> Steps:
        """Return what the principal's loop can do in single steps, each a transaction of its own."""

        def call(function: str, *arguments: object) -> str | None:
            holes = ", ".join(["%s"] * len(arguments))
            # What stands in FROM comes before what is selected from it.
            sql = f"SELECT werkbank.{function}({holes}) AS found FROM {_ACT_AS}"
            with self._connection() as connection:
                row = connection.execute(sql.encode(), (*arguments, *_settings(principal))).fetchone()
            return row["found"] if row else None

        return Steps(call)

    def close(self) -> None:
        """Close all connections."""
        if self._pool:
            self._pool.close()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        pool = self._open_pool()
        with _domain_errors(), pool.connection() as connection:
            self._used_at = 0.0  # until this use has ended well
            yield connection
        self._used_at = time.time()

    def _open_pool(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._connection_string(),
                    connection_class=Connection,
                    # RDS Proxy pins a session that prepares statements.
                    kwargs={"autocommit": True, "row_factory": dict_row, "prepare_threshold": None},
                    min_size=1,
                    max_size=_POOL_SIZE,
                    timeout=self._wait_seconds,
                    configure=_configure,
                    check=self._check,
                    open=True,
                )
            return self._pool

    def _check(self, connection: Connection) -> None:
        if abs(time.time() - self._used_at) > _SILENCE_SECONDS:
            ConnectionPool.check_connection(connection)


def _configure(connection: Connection) -> None:
    connection.adapters.register_loader("uuid", TextLoader)
    connection.adapters.register_loader("json", TextLoader)  # pydantic reads it
    configure_text(connection)


def _settings(principal: Principal) -> tuple[str, str, str]:
    return principal.user_id, principal.mandate_id, ",".join(sorted(principal.roles))


# What functions of ours raise, see infra/migrations/0015_steps.sql.
_RUN_OVER, _MONEY_USED_UP = "WB001", "WB002"
_USED_UP = {
    "run": "The next model call could cost more than is left of this question's budget.",
    "mandate": "Your organisation's budget is used up. An administrator can raise its limit, if the operator allows.",
}


@contextmanager
def _domain_errors() -> Iterator[None]:
    try:
        yield
    except pg.InvalidTextRepresentation as error:
        raise NotFound("There is nothing with this id.") from error
    except pg.InsufficientPrivilege as error:
        raise Forbidden("You may not do this with this item; sharing it more widely needs an administrator.") from error
    except pg.UniqueViolation as error:
        raise Conflict("Something with this name or id exists already.") from error
    except (pg.ForeignKeyViolation, pg.CheckViolation) as error:
        raise InvalidInput(
            "The values do not fit together; one of them names something that does not exist."
        ) from error
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise StorageUnavailable("The database is not reachable at the moment. Please try again shortly.") from error
    except psycopg.DatabaseError as error:
        if error.sqlstate == _RUN_OVER:
            raise RunOver("the run has ended") from error
        if error.sqlstate == _MONEY_USED_UP:
            raise BudgetExceeded(_USED_UP[str(error.diag.message_primary)]) from error
        raise
