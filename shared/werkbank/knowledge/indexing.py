"""A file becomes searchable in three steps, each safe to repeat (KS-03): extract, embed, store.

Nothing of the store changes before the last step's one transaction, so that a failure anywhere leaves the earlier index
as it was. A newer indexing of the same file supersedes this one: then `RunOver` is raised and nothing is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from werkbank.domain.documents import Chunk, ExtractedDocument
from werkbank.domain.errors import DocumentError, NotFound, RunOver
from werkbank.domain.files import FileItem, FileStatus
from werkbank.domain.runs import RunRef
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.knowledge.model import Embedded, EmbeddedChunk, Vector
from werkbank.knowledge.protocols import EmbedTexts, KnowledgeSession, ObjectStore
from werkbank.knowledge.staging import StagedDocument, Staging

_EMBEDDING_BATCH = 64
_EXTRACTED, _STORING = 0.3, 0.9  # how far along a person sees it; embedding is what takes long


class Extract(Protocol):
    """Reads a file's content."""

    def __call__(self, data: bytes, file_name: str, mime_type: str | None = None) -> ExtractedDocument:
        """Return what is in the file. Raises DocumentError."""
        ...


Split = Callable[[ExtractedDocument], Sequence[Chunk]]


class ReportProgress(Protocol):
    """Tells the workspace how far a file has come."""

    def __call__(self, ref: RunRef, file: FileItem, status: FileStatus, progress: float, reason: str | None) -> None:
        """Report; `progress` runs from 0 to 1."""
        ...


@dataclass(frozen=True, slots=True)
class Indexing:
    """The steps, with what they need."""

    database: UnitOfWork[KnowledgeSession]
    objects: ObjectStore
    report: ReportProgress

    def extract(self, ref: RunRef, file_id: str, extract: Extract, chunk: Split) -> None:
        """Read the file and stage its content and passages. Raises DocumentError, NotFound, RunOver."""
        file = self._current_file(ref, file_id)
        if _is_stored(file, ref):
            return
        document = extract(self.objects.get(file.object_key), file.file_name, file.mime_type)
        chunks = tuple(chunk(document))
        if not chunks:
            raise DocumentError("The file holds no text, so there is nothing in it to search.")
        Staging(self.objects, ref).put_document(StagedDocument(document=document, chunks=chunks))
        self._advance(ref, file_id, "extracted", _EXTRACTED)

    def embed(self, ref: RunRef, file_id: str, embed: EmbedTexts) -> None:
        """Embed the staged passages and stage their vectors.

        Raises ProviderError, BudgetExceeded, NotFound, RunOver.
        """
        staging = Staging(self.objects, ref)
        if _is_stored(self._current_file(ref, file_id), ref):
            return
        texts = [chunk.text for chunk in staging.document().chunks]
        self._advance(ref, file_id, "embedding", _EXTRACTED)
        vectors: list[Vector] = []
        model_id = ""
        while len(vectors) < len(texts):
            embedded = embed(texts[len(vectors) : len(vectors) + _EMBEDDING_BATCH], "passage")
            if vectors and embedded.model_id != model_id:  # the mandate's rights have changed: begin anew
                vectors.clear()
                continue
            vectors += embedded.vectors
            model_id = embedded.model_id
            done = len(vectors) / len(texts)
            self._report(ref, file_id, "embedding", _EXTRACTED + (_STORING - _EXTRACTED) * done)
        staging.put_vectors(Embedded(vectors, model_id))

    def store(self, ref: RunRef, file_id: str) -> None:
        """Put the new index in place of the old one, all in one transaction. Raises NotFound, RunOver."""
        staging = Staging(self.objects, ref)
        if not _is_stored(self._current_file(ref, file_id), ref):
            staged, embedded = staging.document(), staging.vectors()
            chunks = [EmbeddedChunk(c, v) for c, v in zip(staged.chunks, embedded.vectors, strict=True)]
            with self.database.session(ref.principal) as session:
                session.files.lock(file_id)
                _require_current(session.files.get(file_id), ref)
                session.knowledge.replace_index(file_id, staged.document, chunks, embedded.model_id)
                session.files.set_status(file_id, "indexed", index_run_id=ref.run_id)
        self._report(ref, file_id, "indexed", 1.0)
        staging.clear()

    def fail(self, ref: RunRef, file_id: str, reason: str) -> None:
        """Record why the file could not be indexed; an earlier index stays. A deleted or superseded file is let be."""
        try:
            self._advance(ref, file_id, "failed", 1.0, reason)
        except (NotFound, RunOver):
            return
        finally:
            Staging(self.objects, ref).clear()

    def _current_file(self, ref: RunRef, file_id: str) -> FileItem:
        with self.database.session(ref.principal) as session:
            return _require_current(session.files.get(file_id), ref)

    def _advance(
        self, ref: RunRef, file_id: str, status: FileStatus, progress: float, reason: str | None = None
    ) -> None:
        with self.database.session(ref.principal) as session:
            session.files.lock(file_id)
            file = _require_current(session.files.get(file_id), ref)
            if _is_stored(file, ref):
                return  # a step that arrives late takes nothing back
            session.files.set_status(file_id, status, reason)
        self.report(ref, file, status, progress, reason)

    def _report(self, ref: RunRef, file_id: str, status: FileStatus, progress: float) -> None:
        self.report(ref, self._current_file(ref, file_id), status, progress, None)


def _require_current(file: FileItem, ref: RunRef) -> FileItem:
    """Return the file. Raises RunOver if a newer run indexes it."""
    if file.index_run_id not in (None, ref.run_id):
        raise RunOver("A newer version of this file is being indexed.")
    return file


def _is_stored(file: FileItem, ref: RunRef) -> bool:
    """Tell whether this run has stored its index already: a repeated step has nothing left to do."""
    return file.status == "indexed" and file.index_run_id == ref.run_id
