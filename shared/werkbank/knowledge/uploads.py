"""Takes in what arrived in storage and starts its indexing: once for each version of a file (KS-03)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from werkbank.domain.errors import NotFound
from werkbank.domain.files import FileItem, FileStatus
from werkbank.domain.ids import derived_id, is_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run, RunRef
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.observability import logger

_GIVEN_UP = "Indexing could not be started after several tries. Upload the file again, or ask your administrator."


class StoredObject(Protocol):
    """What storage knows of an object."""

    @property
    def size(self) -> int: ...
    @property
    def version(self) -> str: ...


class ObjectHeads(Protocol):
    """Looks at objects without reading them."""

    def head(self, key: str) -> StoredObject: ...


class UploadFiles(Protocol):
    """Files as uploads see them."""

    def lock(self, file_id: str) -> None: ...
    def get(self, file_id: str) -> FileItem: ...
    def set_status(
        self, file_id: str, status: FileStatus, reason: str | None = None, *, size: int | None = None,
        index_run_id: str | None = None,
    ) -> None: ...  # fmt: skip


class UploadRuns(Protocol):
    """Runs as uploads see them."""

    def add(self, run: Run) -> bool: ...


class UploadSession(Protocol):
    """The stores uploads use."""

    @property
    def files(self) -> UploadFiles: ...
    @property
    def runs(self) -> UploadRuns: ...


class IndexLoop(Protocol):
    """The state machine that indexes a file."""

    def start(self, run: RunRef, **ids: str) -> None: ...


@dataclass(frozen=True, slots=True)
class UploadKey:
    """An object key `files/<mandate>/<user>/<file>/<version>`; only the API and our own tools make such keys."""

    principal: Principal
    file_id: str

    @classmethod
    def parse(cls, key: str) -> "UploadKey":
        """Read a key. Raises NotFound for one that names no file of ours."""
        parts = key.split("/")
        if len(parts) != 5 or parts[0] != "files" or not is_id(parts[3]):
            raise NotFound("This object belongs to no file.")
        return cls(Principal(mandate_id=parts[1], user_id=parts[2]), parts[3])


class Uploads:
    """Starts indexing of what arrived."""

    def __init__(
        self,
        database: UnitOfWork[UploadSession],
        objects: ObjectHeads,
        loop: IndexLoop,
        max_upload_bytes: int,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._objects = objects
        self._loop = loop
        self._max_upload_bytes = max_upload_bytes
        self._clock = clock

    def receive(self, key: str) -> None:
        """Start indexing the object's file. Notices about what is deleted, outdated or too large are done with here.

        Safe to repeat: the same version of the same object is the same run. Raises StorageUnavailable.
        """
        try:
            upload = UploadKey.parse(key)
            stored = self._objects.head(key)
            started = self._register(upload, key, stored)
        except NotFound:
            logger.info("upload is gone or outdated")
            return
        if started:
            self._loop.start(started, fileId=upload.file_id)

    def _register(self, upload: UploadKey, key: str, stored: StoredObject) -> RunRef | None:
        owner = upload.principal
        run_id = derived_id("index", key, stored.version)
        with self._database.session(owner) as session:
            session.files.lock(upload.file_id)  # a writer may have stored the object and not yet committed its row
            item = session.files.get(upload.file_id)
            if item.object_key != key:
                return None
            if stored.size > self._max_upload_bytes:
                reason = f"The file has {stored.size:,} bytes; at most {self._max_upload_bytes:,} are allowed."
                session.files.set_status(item.id, "failed", reason, size=stored.size)
                return None
            is_new = session.runs.add(
                Run(
                    id=run_id,
                    mandate_id=owner.mandate_id,
                    user_id=owner.user_id,
                    file_id=item.id,
                    kind="index",
                    started_at=self._clock(),
                )
            )
            if is_new:
                session.files.set_status(item.id, "pending", size=stored.size, index_run_id=run_id)
        return RunRef(run_id=run_id, mandate_id=owner.mandate_id, user_id=owner.user_id)


class AbandonedUploads:
    """Closes the case of uploads whose indexing could not even be started."""

    def __init__(self, database: UnitOfWork[UploadSession]) -> None:
        self._database = database

    def abandon(self, key: str) -> None:
        """Mark the object's file as failed after indexing could not even start, so that nobody waits for it."""
        try:
            upload = UploadKey.parse(key)
            with self._database.session(upload.principal) as session:
                item = session.files.get(upload.file_id)
                if item.object_key == key and item.status == "pending":
                    session.files.set_status(item.id, "failed", _GIVEN_UP)
        except NotFound:
            logger.info("abandoned upload is gone or outdated")
