"""Folders, files, conversations and migrations on a real database (FM-01)."""

from pathlib import Path

import psycopg
import pytest

from tests.integration.agent.harness import Harness
from tests.integration.agent.test_tools import add_file
from tests.temporary_postgres import MIGRATIONS, TemporaryPostgres
from werkbank.database.connection import Database
from werkbank.database.migrations import migrate
from werkbank.domain.errors import Conflict, InvalidInput, NotFound, StorageUnavailable
from werkbank.domain.files import FileFolder
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.time import utc_now


def add_folder(database: Database, owner: Principal, name: str, parent_id: str | None = None) -> FileFolder:
    folder = FileFolder(
        id=new_id(),
        mandate_id=owner.mandate_id,
        user_id=owner.user_id,
        parent_id=parent_id,
        name=name,
        created_at=utc_now(),
    )
    with database.session(owner) as session:
        return session.folders.add(folder)


def test_two_folders_of_one_name_conflict(database: Database, principal: Principal) -> None:
    add_folder(database, principal, "Contracts")
    with pytest.raises(Conflict):
        add_folder(database, principal, "Contracts")


def test_folder_cannot_move_into_itself(database: Database, principal: Principal) -> None:
    outer = add_folder(database, principal, "Outer")
    inner = add_folder(database, principal, "Inner", outer.id)
    with pytest.raises(InvalidInput), database.session(principal) as session:
        session.folders.update(outer.id, name=None, parent_id=inner.id, to_top=False)


def test_filled_folder_goes_only_recursively_and_its_files_stay(database: Database, principal: Principal) -> None:
    folder = add_folder(database, principal, "Contracts")
    file = add_file(database, principal, "a.txt")
    with database.session(principal) as session:
        session.files.update(file.id, folder_id=folder.id)
    with pytest.raises(Conflict), database.session(principal) as session:
        session.folders.delete(folder.id, recursive=False)
    with database.session(principal) as session:
        session.folders.delete(folder.id, recursive=True)
        assert session.files.get(file.id).folder_id is None


def test_deleted_conversation_is_gone_but_its_costs_stay(database: Database, principal: Principal) -> None:
    ref = Harness(database, [["done"]]).ask(principal)
    with database.session(principal) as session:
        workflow_id = session.runs.get(ref.run_id).workflow_id
        assert workflow_id
        session.workflows.delete(workflow_id)
    with pytest.raises(NotFound), database.session(principal) as session:
        session.runs.get(ref.run_id)
    with database.session(principal) as session:
        assert session.ledger.charges(ref.run_id)


def test_conversations_are_found_by_what_was_said(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["The lease ends in May."], ["Nothing."]])
    harness.ask(principal, "When does it end?")
    harness.ask(principal, "Anything else?")
    with database.session(principal) as session:
        assert [row["title"] for row in session.workflows.list("LEASE")] == ["When does it end?"]


def test_failed_transaction_leaves_nothing(database: Database, principal: Principal) -> None:
    def fail_half_way() -> None:
        with database.session(principal) as session:
            session.workflows.ensure(new_id(), "half", None)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    with database.session(principal) as session:
        assert session.workflows.list() == []


def test_migrations_apply_once(postgres: TemporaryPostgres) -> None:
    # DP-01
    assert migrate(postgres.owner.uri(), MIGRATIONS, "unused") == []


def test_failed_migration_applies_nothing_of_itself(postgres: TemporaryPostgres, tmp_path: Path) -> None:
    # DP-01
    (tmp_path / "9001_good.sql").write_text("CREATE TABLE tried_good (id int)")
    (tmp_path / "9002_bad.sql").write_text("CREATE TABLE tried_bad (id int); SELECT 1 / 0")
    with pytest.raises(psycopg.Error):
        migrate(postgres.owner.uri(), tmp_path, "unused")
    with psycopg.connect(postgres.owner.uri(), autocommit=True) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'tried%'").fetchall()
        connection.execute("DROP TABLE tried_good")
        connection.execute("DELETE FROM schema_migration WHERE name = '9001_good.sql'")
    assert found == [("tried_good",)]


def test_database_that_is_away_says_so() -> None:
    database = Database(lambda: "host=127.0.0.1 port=1 dbname=none connect_timeout=1", wait_seconds=0.5)
    with pytest.raises(StorageUnavailable), database.session(Principal(user_id="u", mandate_id="m")):
        pytest.fail("there is no database")
