# KS-01, KS-03, KS-09: an index is there as a whole or not at all.
from collections.abc import Iterator

import pytest

from tests.integration.knowledge.library import MODEL, add_file, document_of, embed, new_file
from werkbank.database.connection import Database
from werkbank.domain.documents import ContentObject, ContextRef
from werkbank.domain.errors import Forbidden
from werkbank.domain.principal import Principal
from werkbank.knowledge.model import EmbeddedChunk, ObjectFilter
from werkbank.knowledge.retrieval import search

TABLES = ("content_chunk", "content_object", "file_content_index")


class FailingChunks(list[EmbeddedChunk]):
    """Breaks in the middle of being written."""

    def __iter__(self) -> Iterator[EmbeddedChunk]:
        yield from self[:1]
        raise ConnectionResetError("cut off")


def counts(database: Database, principal: Principal, file_id: str) -> list[int]:
    with database.session(principal) as session:
        return [
            len(session.connection.execute(f"SELECT FROM {table} WHERE file_id = %s".encode(), (file_id,)).fetchall())
            for table in TABLES
        ]


def test_a_new_index_replaces_the_old_one(database: Database, principal: Principal) -> None:
    file_id = add_file(database, principal, "alt eins", "alt zwei", "alt drei")
    document, chunks = document_of("a.txt", "neu eins", "neu zwei")
    with database.session(principal) as session:
        session.knowledge.replace_index(file_id, document, chunks, MODEL.id)
    assert counts(database, principal, file_id) == [2, 2, 1]
    assert {passage.text for passage in search(database, embed, principal, "alt neu")} == {"neu eins", "neu zwei"}


def test_a_failure_in_the_middle_leaves_the_old_index_whole(database: Database, principal: Principal) -> None:
    file_id = add_file(database, principal, "alt eins", "alt zwei", "alt drei")
    document, chunks = document_of("a.txt", "neu eins", "neu zwei")
    with pytest.raises(ConnectionResetError), database.session(principal) as session:
        session.knowledge.replace_index(file_id, document, FailingChunks(chunks), MODEL.id)
    assert counts(database, principal, file_id) == [3, 3, 1]
    assert search(database, embed, principal, "alt")[0].text.startswith("alt")


def test_a_failure_of_a_first_index_leaves_nothing(database: Database, principal: Principal) -> None:
    file = new_file(principal)
    with database.session(principal) as session:
        session.files.add(file)
    document, chunks = document_of("a.txt", "neu eins", "neu zwei")
    with pytest.raises(ConnectionResetError), database.session(principal) as session:
        session.knowledge.replace_index(file.id, document, FailingChunks(chunks), MODEL.id)
    assert counts(database, principal, file.id) == [0, 0, 0]


def test_storing_the_same_index_twice_changes_nothing(database: Database, principal: Principal) -> None:
    file_id = add_file(database, principal, "eins", "zwei")
    before = {passage.chunk_id for passage in search(database, embed, principal, "eins zwei")}
    document, chunks = document_of("a.txt", "eins", "zwei")
    with database.session(principal) as session:
        session.knowledge.replace_index(file_id, document, chunks, MODEL.id)
    assert counts(database, principal, file_id) == [2, 2, 1]
    assert {passage.chunk_id for passage in search(database, embed, principal, "eins zwei")} == before


def test_deleting_a_file_removes_all_that_was_found_in_it(database: Database, principal: Principal) -> None:
    file_id = add_file(database, principal, "eins", "zwei")
    with database.session(principal) as session:
        session.files.delete(file_id)
    assert counts(database, principal, file_id) == [0, 0, 0]


def test_objects_are_read_by_page_section_and_type(database: Database, principal: Principal) -> None:
    file_id = add_file(database, principal, "Seite eins", "Seite zwei", "Seite drei")
    document, chunks = document_of("a.txt", "Seite eins", "Seite zwei", "Seite drei")
    picture = ContentObject(
        sequence=3, content_type="image", data="", metadata={"width": 3},
        ref=ContextRef(container_path="a.txt", location="page:3", page_index=3, section_id="s1"),
    )  # fmt: skip
    document = document.model_copy(update={"objects": (*document.objects, picture)})
    with database.session(principal) as session:
        session.knowledge.replace_index(file_id, document, chunks, MODEL.id)

        def read(narrow: ObjectFilter) -> list[int]:
            return [item.sequence for item in session.knowledge.objects(file_id, narrow)]

        assert read(ObjectFilter()) == [0, 1, 2, 3]
        assert read(ObjectFilter(pages=(2, 3))) == [1, 2, 3]
        assert read(ObjectFilter(section_id="s1")) == [3]
        assert read(ObjectFilter(content_type="text")) == [0, 1, 2]
        assert read(ObjectFilter(offset=1, limit=2)) == [1, 2]
        assert session.knowledge.objects(file_id, ObjectFilter())[3] == picture


def test_the_structure_comes_back(database: Database, principal: Principal) -> None:
    file_id = add_file(database, principal, "eins", "zwei")
    with database.session(principal) as session:
        index = session.knowledge.index_of(file_id)
        assert session.knowledge.index_of(new_file(principal).id) is None
    assert index is not None
    assert (index.structure.page_count, index.object_count, index.chunk_count) == (2, 2, 2)
    assert index.embedding_model == MODEL.id


def test_text_that_postgresql_cannot_hold_is_stored_without_it(database: Database, principal: Principal) -> None:
    file_id = add_file(database, principal, "Null\x00byte", r"literal \u0000 and \\u0000")
    document, chunks = document_of("a\x00.txt", "Null\x00byte", r"literal \u0000 and \\u0000")
    objects = tuple(
        item.model_copy(update={"metadata": {"nul": "\x00", "text": r"\u0000"}}) for item in document.objects
    )
    with database.session(principal) as session:
        session.knowledge.replace_index(file_id, document.model_copy(update={"objects": objects}), chunks, MODEL.id)
        stored = session.knowledge.objects(file_id, ObjectFilter())
    assert [item.data for item in stored] == ["Nullbyte", r"literal \u0000 and \\u0000"]
    assert stored[0].metadata == {"nul": "", "text": r"\u0000"}


def test_an_unknown_file_cannot_be_indexed(database: Database, principal: Principal) -> None:
    document, chunks = document_of("a.txt", "eins")
    with pytest.raises(Forbidden), database.session(principal) as session:
        session.knowledge.replace_index(new_file(principal).id, document, chunks, MODEL.id)
