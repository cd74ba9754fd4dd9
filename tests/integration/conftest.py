"""A real PostgreSQL with the real migrations; every test gets a mandate of its own."""

from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest

from tests.temporary_postgres import TemporaryPostgres, temporary_postgres
from werkbank.database.connection import Database
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal


@pytest.fixture(scope="session")
def postgres() -> Iterator[TemporaryPostgres]:
    with temporary_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def database(postgres: TemporaryPostgres) -> Iterator[Database]:
    database = Database(postgres.app.uri)
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
    admin = new_member(database, None, "admin")
    with database.session(admin) as session:
        session.mandates.choose_limit(Decimal(1), None)
    return new_member(database, admin.mandate_id)


@pytest.fixture
def owner(postgres: TemporaryPostgres) -> Iterator[psycopg.Connection]:
    """A connection of the schema's owner, to look behind the store; row-level security binds it all the same."""
    with psycopg.connect(postgres.owner.uri(), autocommit=True) as connection:
        yield connection
