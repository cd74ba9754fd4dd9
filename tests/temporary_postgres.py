"""A PostgreSQL of one's own for tests and benchmarks, with the real migrations applied."""

import asyncio
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.local.postgres import Login, Postgres
from werkbank.database.connection import Database
from werkbank.database.migrations import migrate

MIGRATIONS = Path(__file__).parents[1] / "infra" / "migrations"


@dataclass(frozen=True)
class TemporaryPostgres:
    """A running server: how its owner and the functions' role log in."""

    owner: Login
    app: Login


@contextmanager
def temporary_postgres() -> Iterator[TemporaryPostgres]:
    """Run a server until the block ends."""
    with tempfile.TemporaryDirectory(prefix="werkbank-test-") as folder, asyncio.Runner() as runner:
        (Path(folder) / "logs").mkdir()
        Path(folder).chmod(0o755)
        postgres = Postgres(Path(folder), _free_port())
        owner, app = runner.run(postgres.start())
        try:
            migrate(owner.uri(), MIGRATIONS, "unused: the role exists")
            yield TemporaryPostgres(owner, app)
        finally:
            runner.run(postgres.stop())


@contextmanager
def temporary_database() -> Iterator[Database]:
    """Run a server until the block ends, seen as the functions' role sees it."""
    with temporary_postgres() as server:
        database = Database(server.app.uri)
        try:
            yield database
        finally:
            database.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
