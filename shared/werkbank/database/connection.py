"""Connections and units of work. The only place that opens a transaction.

A session is a pipeline: statements whose answer nobody waits for travel together with the next one that somebody does,
BEGIN and COMMIT included. Faults of such a statement are raised there, at the latest when the session ends.
https://www.postgresql.org/docs/current/libpq-pipeline-mode.html
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

from werkbank.database.session import Session
from werkbank.domain.errors import Conflict, Forbidden, InvalidInput, NotFound, StorageUnavailable
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

_SET_PRINCIPAL = (
    "SELECT werkbank.set_local('werkbank.user_id', %s), werkbank.set_local('werkbank.mandate_id', %s),"
    " werkbank.set_local('werkbank.roles', %s)"
)


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
        pool = self._open_pool()
        with _domain_errors(), pool.connection() as connection, connection.pipeline():
            self._used_at = 0.0  # until this one has ended well
            roles = ",".join(sorted(principal.roles))
            connection.execute(_SET_PRINCIPAL, (principal.user_id, principal.mandate_id, roles))
            yield Session(connection, principal)
            # Not commit(), nor transaction(): they wait for the server, which the end of the pipeline does anyway.
            connection.execute(b"COMMIT")
        self._used_at = time.time()

    def close(self) -> None:
        """Close all connections."""
        if self._pool:
            self._pool.close()

    def _open_pool(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._connection_string(),
                    connection_class=Connection,
                    # RDS Proxy pins a session that prepares statements.
                    kwargs={"row_factory": dict_row, "prepare_threshold": None},
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
