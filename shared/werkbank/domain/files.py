"""Files and folders as a person keeps them (FM-01)."""

from datetime import datetime
from typing import Literal

from werkbank.domain.base import WireModel

Scope = Literal["personal", "featureInstance", "mandate", "global"]
FileStatus = Literal["pending", "extracted", "embedding", "indexed", "failed"]


class FileItem(WireModel):
    """A file. `size` in bytes; `hash` is the SHA-256 of the stored bytes, known once they arrived.

    `status_reason` says, to a person, why a file failed. Scope is the single source of truth for who may see its
    content (KS-02); the database enforces it.
    """

    id: str
    mandate_id: str
    user_id: str
    instance_id: str | None = None
    folder_id: str | None = None
    file_name: str
    mime_type: str
    size: int
    hash: str | None = None
    object_key: str
    tags: tuple[str, ...] = ()
    description: str = ""
    scope: Scope = "personal"
    neutralize: bool = False
    status: FileStatus = "pending"
    status_reason: str | None = None
    index_run_id: str | None = None
    created_at: datetime
    updated_at: datetime


class FileFolder(WireModel):
    """A folder; `parent_id` None means the top."""

    id: str
    mandate_id: str
    user_id: str
    parent_id: str | None = None
    name: str
    auto_rule: str | None = None
    neutralize: bool = False
    created_at: datetime
