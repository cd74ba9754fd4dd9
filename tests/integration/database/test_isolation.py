"""Tenant isolation is the database's job: it holds even for a query that forgets its WHERE (TB-04, KS-02)."""

import psycopg
import pytest

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_tools import add_file
from tests.integration.conftest import new_member
from werkbank.database.connection import Database
from werkbank.domain.errors import Forbidden, NotFound
from werkbank.domain.files import FileFolder
from werkbank.domain.ids import new_id
from werkbank.domain.preferences import Preferences
from werkbank.domain.principal import Principal
from werkbank.domain.time import utc_now

# What holds no tenant's data.
_PUBLIC = {"schema_migration"}


def tables(owner: psycopg.Connection) -> list[str]:
    rows = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return sorted({row[0] for row in rows} - _PUBLIC)


def test_every_table_enforces_row_level_security(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT relname, relrowsecurity, relforcerowsecurity, count(polname) FROM pg_class"
        " LEFT JOIN pg_policy ON polrelid = pg_class.oid WHERE relname = ANY (%s) GROUP BY 1, 2, 3",
        (tables(owner),),
    ).fetchall()
    assert rows
    assert [name for name, enabled, forced, policies in rows if not (enabled and forced and policies)] == []


def test_functions_role_cannot_bypass_it_and_owns_nothing(owner: psycopg.Connection) -> None:
    role = owner.execute("SELECT rolbypassrls, rolsuper FROM pg_roles WHERE rolname = 'werkbank_app'").fetchone()
    owned = owner.execute(
        "SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = relowner WHERE rolname = 'werkbank_app'"
    )
    assert role == (False, False)
    assert owned.fetchone() == (0,)


@pytest.fixture
def busy(database: Database) -> Principal:
    """A person with something in every table a run and a file touch."""
    member = new_member(database)
    add_file(database, member, "secret.txt")
    with database.session(member) as session:
        session.preferences.choose(Preferences(web_search_enabled=True))
        session.folders.add(
            FileFolder(
                id=new_id(), mandate_id=member.mandate_id, user_id=member.user_id, name="Secrets", created_at=utc_now()
            )
        )
    Harness(database, [[LIST_CALL], ["A secret answer."]]).ask(member)
    return member


@pytest.mark.parametrize("kind", ["another mandate", "the same mandate", "nobody"])
def test_nothing_of_a_person_is_seen_by(
    database: Database, owner: psycopg.Connection, busy: Principal, kind: str
) -> None:
    # raw SQL as the functions' role, without any WHERE
    match kind:
        case "another mandate":
            stranger = new_member(database, None, "admin", "operator")
            shared: set[str] = set()
        case "the same mandate":
            stranger = new_member(database, busy.mandate_id)
            shared = {"mandate", "billing_transaction", "feature_instance", "good_model"}  # what is the organisation's
        case _:
            stranger = Principal(user_id="", mandate_id="")
            shared = set()
    with database.session(stranger) as session:
        seen = {
            name
            for name in set(tables(owner)) - shared
            for row in session.connection.execute(f"SELECT * FROM {name}").fetchall()
            if busy.user_id in map(str, row.values()) or busy.mandate_id in map(str, row.values())
        }
    assert seen == set()


def test_nothing_of_a_person_is_changed_by_a_stranger(
    database: Database, owner: psycopg.Connection, busy: Principal
) -> None:
    stranger = new_member(database, None, "admin", "operator")
    changed = {}
    with database.session(stranger) as session:
        for name in ("file_item", "workflow", "run", "message", "tool_call", "file_folder"):
            for statement in (f"UPDATE {name} SET mandate_id = mandate_id", f"DELETE FROM {name}"):
                changed[statement] = session.connection.execute(f"{statement} RETURNING 1").fetchall()
    assert not any(changed.values())


def test_rows_cannot_be_written_into_another_mandate(database: Database, busy: Principal) -> None:
    stranger = new_member(database)
    with pytest.raises(Forbidden), database.session(stranger) as session:
        session.connection.execute(
            "INSERT INTO workflow (id, mandate_id, user_id, title) VALUES (%s, %s, %s, 'x')",
            (new_id(), busy.mandate_id, busy.user_id),
        )


def test_events_cannot_be_rewritten_nor_charges_removed(database: Database, busy: Principal) -> None:
    for statement in ("UPDATE run_event SET data = '{}'", "DELETE FROM billing_transaction"):
        with pytest.raises(Forbidden), database.session(busy) as session:
            session.connection.execute(statement)


def test_sharing_with_the_mandate_needs_the_right(database: Database) -> None:
    # KS-02
    member = new_member(database)
    admin = new_member(database, member.mandate_id, "admin")
    own, admins = add_file(database, member, "own.txt"), add_file(database, admin, "handbook.txt")
    with pytest.raises(Forbidden), database.session(member) as session:
        session.files.update(own.id, scope="mandate")
    with database.session(admin) as session:
        session.files.update(admins.id, scope="mandate")
    with database.session(member) as session:
        assert session.files.get(admins.id).scope == "mandate"
    with pytest.raises(Forbidden), database.session(member) as session:
        session.files.delete(admins.id)
    with pytest.raises(Forbidden), database.session(admin) as session:
        session.files.update(admins.id, scope="global")


def test_foreign_ids_look_like_no_ids(database: Database, busy: Principal) -> None:
    stranger = new_member(database)
    with database.session(busy) as session:
        (file,) = session.files.list()
    for file_id in (file.id, new_id(), "not-an-id", "' OR 1=1 --"):
        with pytest.raises(NotFound), database.session(stranger) as session:
            session.files.get(file_id)
