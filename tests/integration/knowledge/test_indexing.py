# KS-03: extract, embed, store; each step safe to repeat, a failure anywhere leaves what was there.
from collections.abc import Sequence
from typing import Literal

import pytest

from tests.integration.knowledge.library import embed, new_file
from tests.unit.knowledge.memory_objects import MemoryObjects
from werkbank.database.connection import Database
from werkbank.documents.chunking import chunk_document
from werkbank.documents.extract import extract_document
from werkbank.domain.documents import ExtractedDocument
from werkbank.domain.errors import DocumentError, NotFound, ProviderUnavailable, RunOver
from werkbank.domain.files import FileItem, FileStatus
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef
from werkbank.knowledge.indexing import Indexing
from werkbank.knowledge.model import Embedded
from werkbank.knowledge.retrieval import search
from werkbank.knowledge.staging import Staging

TEXT = "\n\n".join(f"Absatz {n}: Die Kündigungsfrist beträgt {n} Monate. " + "Füllwort " * 150 for n in range(1, 80))


class Workshop:
    """A file of a principal, the steps, and what they did."""

    def __init__(self, database: Database, principal: Principal, text: str = TEXT) -> None:
        self.database, self.principal = database, principal
        self.file = new_file(principal)
        self.objects = MemoryObjects({self.file.object_key: text.encode()})
        self.extractions = 0
        self.reports: list[tuple[FileStatus, float, str | None]] = []
        self.steps = Indexing(database, self.objects, self._report)
        with database.session(principal) as session:
            session.files.add(self.file)

    def extract(self, ref: RunRef) -> None:
        self.steps.extract(ref, self.file.id, self._extract, chunk_document)

    def new_run(self) -> RunRef:
        """Start an indexing, as an upload does."""
        ref = RunRef(run_id=new_id(), mandate_id=self.principal.mandate_id, user_id=self.principal.user_id)
        with self.database.session(self.principal) as session:
            session.files.set_status(self.file.id, "pending", index_run_id=ref.run_id)
        return ref

    def index(self, ref: RunRef) -> None:
        self.extract(ref)
        self.steps.embed(ref, self.file.id, embed)
        self.steps.store(ref, self.file.id)

    def stored(self) -> FileItem:
        with self.database.session(self.principal) as session:
            return session.files.get(self.file.id)

    def chunk_count(self) -> int:
        with self.database.session(self.principal) as session:
            index = session.knowledge.index_of(self.file.id)
            return index.chunk_count if index else 0

    def _extract(self, data: bytes, file_name: str, mime_type: str | None = None) -> ExtractedDocument:
        self.extractions += 1
        return extract_document(data, file_name, mime_type)

    def _report(self, ref: RunRef, file: FileItem, status: FileStatus, progress: float, reason: str | None) -> None:
        self.reports.append((status, progress, reason))


@pytest.fixture
def workshop(database: Database, principal: Principal) -> Workshop:
    return Workshop(database, principal)


def test_a_file_becomes_searchable_and_tells_how_far_it_is(workshop: Workshop) -> None:
    workshop.index(workshop.new_run())
    assert workshop.stored().status == "indexed"
    assert workshop.chunk_count() > 64  # more than one batch of embeddings
    found = search(workshop.database, embed, workshop.principal, "Kündigungsfrist 7 Monate")
    assert "beträgt 7 Monate" in found[0].text
    statuses = list(dict.fromkeys(status for status, _, _ in workshop.reports))
    progress = [progress for _, progress, _ in workshop.reports]
    assert statuses == ["extracted", "embedding", "indexed"]
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert list(workshop.objects.held) == [workshop.file.object_key]  # nothing staged is left behind


def test_later_questions_extract_nothing(workshop: Workshop) -> None:  # KS-04
    workshop.index(workshop.new_run())
    for question in ("Kündigungsfrist", "Absatz 3", "Kündigungsfrist"):
        assert search(workshop.database, embed, workshop.principal, question)
    assert workshop.extractions == 1


def test_every_step_may_be_repeated(workshop: Workshop) -> None:
    ref = workshop.new_run()
    for _ in range(2):
        workshop.extract(ref)
    for _ in range(2):
        workshop.steps.embed(ref, workshop.file.id, embed)
    for _ in range(2):
        workshop.steps.store(ref, workshop.file.id)
    count = workshop.chunk_count()
    workshop.index(ref)  # the whole chain once more, late
    assert workshop.stored().status == "indexed"
    assert workshop.chunk_count() == count
    assert list(workshop.objects.held) == [workshop.file.object_key]


def test_a_failure_while_embedding_leaves_the_earlier_index(workshop: Workshop) -> None:
    workshop.index(workshop.new_run())
    count = workshop.chunk_count()
    workshop.objects.put(workshop.file.object_key, b"Ganz neuer Inhalt")
    ref = workshop.new_run()
    workshop.extract(ref)
    with pytest.raises(ProviderUnavailable):
        workshop.steps.embed(ref, workshop.file.id, unavailable)
    workshop.steps.fail(ref, workshop.file.id, "The embedding service is down.")
    assert workshop.stored().status == "failed"
    assert workshop.stored().status_reason == "The embedding service is down."
    assert workshop.chunk_count() == count
    assert workshop.reports[-1] == ("failed", 1.0, "The embedding service is down.")
    assert list(workshop.objects.held) == [workshop.file.object_key]


def test_a_crash_while_storing_stores_nothing_and_the_step_can_be_repeated(workshop: Workshop) -> None:
    ref = workshop.new_run()
    workshop.extract(ref)
    workshop.steps.embed(ref, workshop.file.id, embed)
    vectors = next(key for key in workshop.objects.held if key.endswith("vectors.f32"))
    whole = workshop.objects.get(vectors)
    workshop.objects.put(vectors, whole[: len(whole) // 2 // 4 * 4 + whole.index(b"\n") % 4])
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it is, it must not pass for an index
        workshop.steps.store(ref, workshop.file.id)
    assert workshop.chunk_count() == 0
    workshop.objects.put(vectors, whole)
    workshop.steps.store(ref, workshop.file.id)
    assert workshop.stored().status == "indexed"


def test_vectors_of_two_models_never_meet_in_one_index(workshop: Workshop) -> None:
    # KS-07: a mandate's rights, and with them its embedding model, may change between two batches
    ref = workshop.new_run()
    workshop.extract(ref)
    batches: list[Sequence[str]] = []

    def changing(texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embedded:
        batches.append(texts)
        return Embedded([[0.0] * 1536] * len(texts), "another/model") if len(batches) == 1 else embed(texts, purpose)

    workshop.steps.embed(ref, workshop.file.id, changing)
    staged = Staging(workshop.objects, ref).vectors()
    assert batches[2] == batches[0], "the second batch showed that another model embeds now"
    assert staged.model_id == "internal/hashing-1536"
    assert all(any(vector) for vector in staged.vectors)


def test_a_newer_version_supersedes_an_indexing(workshop: Workshop) -> None:
    old = workshop.new_run()
    workshop.extract(old)
    workshop.steps.embed(old, workshop.file.id, embed)
    workshop.objects.put(workshop.file.object_key, b"Die neue Fassung")
    workshop.index(workshop.new_run())
    with pytest.raises(RunOver):
        workshop.steps.store(old, workshop.file.id)
    workshop.steps.fail(old, workshop.file.id, "late")
    assert workshop.stored().status == "indexed"
    assert workshop.chunk_count() == 1


def test_a_file_deleted_meanwhile_is_let_be(workshop: Workshop) -> None:
    ref = workshop.new_run()
    workshop.extract(ref)
    with workshop.database.session(workshop.principal) as session:
        session.files.delete(workshop.file.id)
    with pytest.raises(NotFound):
        workshop.steps.embed(ref, workshop.file.id, embed)
    workshop.steps.fail(ref, workshop.file.id, "gone")
    assert list(workshop.objects.held) == [workshop.file.object_key]


@pytest.mark.parametrize("text", ["", "  \n \n"])
def test_a_file_without_text_says_so(database: Database, principal: Principal, text: str) -> None:
    workshop = Workshop(database, principal, text)
    with pytest.raises(DocumentError):
        workshop.extract(workshop.new_run())
    assert workshop.stored().status == "pending"


def unavailable(texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embedded:
    raise ProviderUnavailable("down")
