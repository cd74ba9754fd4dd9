# KS-02: who sees a file sees its passages, nobody else does, whatever a query forgets.
import pytest

from tests.integration.conftest import new_member
from tests.integration.knowledge.library import MODEL, add_file, document_of, embed, new_file
from werkbank.database.connection import Database
from werkbank.domain.errors import Forbidden
from werkbank.domain.files import Scope
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run
from werkbank.domain.time import utc_now
from werkbank.knowledge.memory import round_memory
from werkbank.knowledge.model import SearchFilter, WorkflowFact
from werkbank.knowledge.retrieval import search

TABLES = ("content_chunk", "content_object", "file_content_index")


def rows_seen(database: Database, principal: Principal, table: str) -> set[str]:
    """Read a whole table without any WHERE, as the functions' role."""
    with database.session(principal) as session:
        return {str(row["file_id"]) for row in session.connection.execute(f"SELECT file_id FROM {table}".encode())}


@pytest.mark.parametrize("table", TABLES)
def test_mandates_never_see_each_other_even_when_a_query_has_no_where(database: Database, table: str) -> None:
    one, other = new_member(database), new_member(database)
    mine, theirs = add_file(database, one, "Umsatz 2025"), add_file(database, other, "Umsatz 2025")
    assert mine in rows_seen(database, one, table)
    assert theirs not in rows_seen(database, one, table)
    assert mine not in rows_seen(database, other, table)


def test_without_a_principal_nothing_is_seen(database: Database, principal: Principal) -> None:
    add_file(database, principal, "Umsatz 2025")
    assert rows_seen(database, Principal(user_id="", mandate_id=""), "content_chunk") == set()


@pytest.mark.parametrize(
    ("scope", "colleague_sees", "stranger_sees"),
    [("personal", False, False), ("mandate", True, False), ("global", True, True)],
)
def test_a_files_scope_decides_who_finds_its_passages(
    database: Database, scope: Scope, colleague_sees: bool, stranger_sees: bool
) -> None:
    owner = new_member(database, None, "admin", "operator")
    colleague, stranger = new_member(database, owner.mandate_id), new_member(database)
    word = f"Kennwort{new_id()[:8]}"
    file_id = add_file(database, owner, f"Das {word} der Firma", scope=scope)

    def finds(principal: Principal) -> bool:
        return file_id in {passage.file_id for passage in search(database, embed, principal, word)}

    seen = finds(owner), finds(colleague), finds(stranger)
    with database.session(owner) as session:
        session.files.delete(file_id)  # a global file would turn up in other tests
    assert seen == (True, colleague_sees, stranger_sees)


def test_a_feature_instances_files_are_its_members(database: Database) -> None:
    admin = new_member(database, None, "admin")
    member, outsider = new_member(database, admin.mandate_id), new_member(database, admin.mandate_id)
    instance_id = new_id()
    with database.session(admin) as session:
        session.connection.execute(
            "INSERT INTO feature_instance (id, mandate_id, feature_code, label) VALUES (%s, %s, 'workspace', 'W')",
            (instance_id, admin.mandate_id),
        )
    for person in (admin, member):
        with database.session(person.model_copy(update={"roles": frozenset({"admin"})})) as session:
            session.connection.execute(
                "INSERT INTO feature_instance_member (instance_id, mandate_id, user_id) VALUES (%s, %s, %s)",
                (instance_id, person.mandate_id, person.user_id),
            )
    file_id = add_file(database, admin, "Quartalszahlen", scope="featureInstance", instance_id=instance_id)
    assert file_id in rows_seen(database, member, "content_chunk")
    assert file_id not in rows_seen(database, outsider, "content_chunk")


def test_changing_a_files_scope_takes_effect_at_once(database: Database) -> None:
    owner = new_member(database, None, "admin")
    colleague = new_member(database, owner.mandate_id)
    file_id = add_file(database, owner, "Quartalszahlen")
    assert file_id not in rows_seen(database, colleague, "content_chunk")
    with database.session(owner) as session:
        session.files.update(file_id, scope="mandate")
    assert file_id in rows_seen(database, colleague, "content_chunk")


def test_who_only_sees_a_file_cannot_touch_its_index(database: Database) -> None:
    owner = new_member(database, None, "admin")
    colleague = new_member(database, owner.mandate_id)
    file_id = add_file(database, owner, "Quartalszahlen", scope="mandate")
    document, chunks = document_of("a.txt", "Gefälschte Zahlen")
    with pytest.raises(Forbidden), database.session(colleague) as session:
        session.knowledge.replace_index(file_id, document, chunks, MODEL.id)
    assert [passage.text for passage in search(database, embed, owner, "Zahlen")] == ["Quartalszahlen"]


def test_an_index_cannot_be_planted_in_another_mandate(database: Database, principal: Principal) -> None:
    victim = new_member(database)
    file = new_file(victim)
    with database.session(victim) as session:
        session.files.add(file)
    document, chunks = document_of("a.txt", "Untergeschoben")
    with pytest.raises(Forbidden), database.session(principal) as session:
        session.knowledge.replace_index(file.id, document, chunks, MODEL.id)
    assert rows_seen(database, victim, "content_chunk") == set()


def test_another_mandates_file_id_finds_nothing(database: Database, principal: Principal) -> None:
    theirs = add_file(database, new_member(database), "Umsatz 2025")
    add_file(database, principal, "Umsatz 2025")
    for file_id in (theirs, new_id(), "no id at all"):
        assert search(database, embed, principal, "Umsatz", SearchFilter(file_ids=(file_id,))) == ()


def test_memories_are_their_owners(database: Database) -> None:
    owner = new_member(database)
    colleague = new_member(database, owner.mandate_id)
    workflow_id = add_workflow(database, owner)
    for table in ("round_memory", "workflow_memory"):
        with database.session(owner) as session:
            seen = session.connection.execute(f"SELECT workflow_id FROM {table}".encode()).fetchall()
        assert [row["workflow_id"] for row in seen] == [workflow_id]
        with database.session(colleague) as session:
            assert session.connection.execute(f"SELECT 1 FROM {table}".encode()).fetchall() == []


def add_workflow(database: Database, owner: Principal) -> str:
    """Store a workflow with a run, a memory of its first round and a fact."""
    workflow_id, run_id = new_id(), new_id()
    with database.session(owner) as session:
        session.workflows.ensure(workflow_id, "title", None)
        session.runs.add(
            Run(
                id=run_id, mandate_id=owner.mandate_id, user_id=owner.user_id, workflow_id=workflow_id, kind="agent",
                started_at=utc_now(),
            )
        )  # fmt: skip
        session.knowledge.memory.add_rounds([round_memory(workflow_id, run_id, 1, "decision", "text")], None)
        session.knowledge.memory.set_fact(WorkflowFact(workflow_id=workflow_id, key="k", value="v", source="tool"))
    return workflow_id
