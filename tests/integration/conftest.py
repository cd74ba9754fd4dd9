"""A real PostgreSQL with the real migrations; every test gets a mandate of its own."""

import tempfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from infra.local.postgres import Postgres
from werkbank.database.connection import Database
from werkbank.database.migrations import migrate
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal

MIGRATIONS = Path(__file__).parents[2] / "infra" / "migrations"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with tempfile.TemporaryDirectory(prefix="werkbank-test-") as folder, Postgres(Path(folder) / "postgres") as server:
        migrate(server.owner_connection_string, MIGRATIONS, "unused: the role exists")
        yield server


@pytest.fixture(scope="session")
def database(postgres: Postgres) -> Iterator[Database]:
    database = Database(lambda: postgres.app_connection_string)
    yield database
    database.close()


@pytest.fixture
def principal(database: Database) -> Principal:
    return new_member(database)


def new_member(database: Database, mandate_id: str | None = None, *roles: str) -> Principal:
    """Return a new person, of a new mandate unless one is named, with no limit on spending."""
    principal = Principal(user_id=new_id(), mandate_id=mandate_id or f"m-{new_id()}", roles=frozenset(roles))
    with database.session(principal) as session:
        session.mandates.ensure(None)
    return principal


@pytest.fixture
def limited_principal(database: Database) -> Principal:
    """A person whose mandate may spend one franc."""
    principal = Principal(user_id=new_id(), mandate_id=f"m-{new_id()}")
    with database.session(principal) as session:
        session.mandates.ensure(Decimal(1))
    return principal


@pytest.fixture
def owner(postgres: Postgres) -> Iterator[psycopg.Connection]:
    """A connection of the schema's owner, to look behind the store; row-level security binds it all the same."""
    with psycopg.connect(postgres.owner_connection_string, autocommit=True) as connection:
        yield connection
