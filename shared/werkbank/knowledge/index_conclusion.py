"""The last step of indexing: the new index takes its place, or the file says why it has none."""

from werkbank.domain.errors import NotFound, RunOver
from werkbank.domain.failure import Failure, error_type, message_of
from werkbank.domain.runs import IndexRef
from werkbank.knowledge.index_report import IndexReport
from werkbank.knowledge.indexing import Indexing

_UNEXPECTED = "Indexing failed inside Werkbank. Upload the file again, or ask your administrator."


class IndexConclusion:
    """Concludes indexing runs."""

    def __init__(self, indexing: Indexing, report: IndexReport) -> None:
        self._indexing = indexing
        self._report = report

    def store(self, ref: IndexRef) -> None:
        """Store the staged index and end the run. Raises StorageUnavailable."""
        try:
            self._indexing.store(ref, ref.file_id)
        except (NotFound, RunOver):
            self._report.supersede(ref, ref.file_id)
        else:
            self._report.complete(ref, ref.file_id)

    def fail(self, ref: IndexRef, failure: Failure) -> None:
        """Record why the file could not be indexed and end the run. Raises StorageUnavailable."""
        if error_type(failure) in {NotFound, RunOver}:
            self._report.supersede(ref, ref.file_id)
            return
        reason = message_of(failure) or _UNEXPECTED
        self._indexing.fail(ref, ref.file_id, reason)
        self._report.fail(ref, ref.file_id, reason)
