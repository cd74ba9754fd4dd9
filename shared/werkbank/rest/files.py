"""Files: upload by presigned URL, list, change, read, delete (FM-01, FM-02)."""

import mimetypes
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from werkbank.domain.base import WireModel
from werkbank.domain.documents import ContentObject, DocumentStructure
from werkbank.domain.errors import Conflict, InvalidInput, TooLarge
from werkbank.domain.files import FileItem, FileStatus, Scope
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.knowledge.model import ObjectFilter
from werkbank.rest.access import CurrentPrincipal, CurrentServices

router = APIRouter(tags=["files"])

FileName = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^/\\\x00-\x1f]+$")]
Tags = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=50)], ...], Field(max_length=50)]
MimeType = Annotated[str, Field(max_length=200, pattern=r"^[\w.+-]+/[\w.+-]+$")]


class File(WireModel):
    """A file as its user sees it; `size` in bytes."""

    id: str
    file_name: str
    mime_type: str
    size: int
    hash: str | None
    folder_id: str | None
    tags: tuple[str, ...]
    description: str
    scope: Scope
    neutralize: bool
    status: FileStatus
    status_reason: str | None
    index_run_id: str | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, item: FileItem) -> "File":
        """Return the public part of a stored file."""
        return cls(**{name: getattr(item, name) for name in cls.model_fields})


class NewFile(WireModel):
    """What is announced before an upload."""

    file_name: FileName
    mime_type: MimeType | None = None
    size: int = Field(ge=0)
    folder_id: str | None = None
    tags: Tags = ()


class Upload(WireModel):
    """How to send the bytes: one request of exactly this form."""

    url: str
    method: str = "PUT"
    headers: dict[str, str]


class AnnouncedFile(WireModel):
    """A new file and where its bytes go."""

    file: File
    upload: Upload


class FileList(WireModel):
    """Files, newest first."""

    files: tuple[File, ...]


class FileChange(WireModel):
    """What to change; fields left out stay. `folder_id` null moves to the top."""

    file_name: FileName | None = None
    folder_id: str | None = None
    tags: Tags | None = None
    description: str | None = Field(default=None, max_length=2_000)
    scope: Scope | None = None
    neutralize: bool | None = None


class Download(WireModel):
    """A URL that shows the file for five minutes."""

    url: str


class IndexSummary(WireModel):
    """What the index holds of a file."""

    structure: DocumentStructure
    object_count: int
    chunk_count: int


class Objects(WireModel):
    """Content objects in reading order."""

    objects: tuple[ContentObject, ...]


@router.post("/files", status_code=201)
def announce_file(body: NewFile, principal: CurrentPrincipal, services: CurrentServices) -> AnnouncedFile:
    """Announce a file and get the URL to upload its bytes to. Indexing starts by itself when they arrive."""
    if body.size > services.max_upload_bytes:
        limit = services.max_upload_bytes // 1_000_000
        raise TooLarge(f"“{body.file_name}” has {body.size:,} bytes; files may have at most {limit} MB.")
    item = _new_item(body, principal, services.clock())
    with services.database.session(principal) as session:
        session.mandates.ensure(services.mandate_limit_chf)
        if body.folder_id:
            session.folders.get(body.folder_id)
        stored = session.files.add(item)
    url = services.objects.upload_url(stored.object_key, stored.mime_type, body.size)
    return AnnouncedFile(file=File.of(stored), upload=Upload(url=url, headers={"Content-Type": stored.mime_type}))


def _new_item(body: NewFile, principal: Principal, now: datetime) -> FileItem:
    file_id = new_id()
    guessed = mimetypes.guess_type(body.file_name)[0]
    return FileItem(
        id=file_id, mandate_id=principal.mandate_id, user_id=principal.user_id, folder_id=body.folder_id,
        file_name=body.file_name, mime_type=body.mime_type or guessed or "application/octet-stream", size=body.size,
        tags=body.tags, object_key=_object_key(principal.mandate_id, principal.user_id, file_id),
        created_at=now, updated_at=now,
    )  # fmt: skip


@router.get("/files")
def list_files(
    principal: CurrentPrincipal,
    services: CurrentServices,
    folder_id: Annotated[str | None, Query(alias="folderId")] = None,
    tag: str | None = None,
    search: str | None = None,
) -> FileList:
    """List the files the user may see, newest first."""
    with services.database.session(principal) as session:
        files = session.files.list(folder_id=folder_id, tag=tag, search=search)
    return FileList(files=tuple(File.of(item) for item in files))


@router.get("/files/{file_id}")
def get_file(file_id: str, principal: CurrentPrincipal, services: CurrentServices) -> File:
    """Return one file."""
    with services.database.session(principal) as session:
        return File.of(session.files.get(file_id))


@router.patch("/files/{file_id}")
def change_file(file_id: str, body: FileChange, principal: CurrentPrincipal, services: CurrentServices) -> File:
    """Rename, move, tag, describe or share a file."""
    given = body.model_fields_set
    with services.database.session(principal) as session:
        if body.folder_id:
            session.folders.get(body.folder_id)
        item = session.files.update(
            file_id, file_name=body.file_name, folder_id=body.folder_id,
            clear_folder="folder_id" in given and body.folder_id is None, tags=body.tags,
            description=body.description, scope=body.scope, neutralize=body.neutralize,
        )  # fmt: skip
    return File.of(item)


@router.delete("/files/{file_id}", status_code=204)
def delete_file(file_id: str, principal: CurrentPrincipal, services: CurrentServices) -> Response:
    """Delete a file with its content, index and vectors."""
    with services.database.session(principal) as session:
        item = session.files.delete(file_id)
    services.objects.delete(item.object_key)
    return Response(status_code=204)


@router.post("/files/{file_id}/reindex", status_code=202)
def reindex_file(file_id: str, principal: CurrentPrincipal, services: CurrentServices) -> File:
    """Index a file anew. Its bytes move to a new key, and what arrives in storage indexes itself."""
    with services.database.session(principal) as session:
        session.files.lock(file_id)
        item = session.files.get(file_id)
        key = _object_key(item.mandate_id, item.user_id, file_id)
        session.files.set_content(file_id, key, item.size, item.mime_type)
        services.objects.copy(item.object_key, key)
        changed = session.files.get(file_id)
    services.objects.delete(item.object_key)
    return File.of(changed)


def _object_key(mandate_id: str, user_id: str, file_id: str) -> str:
    """Return a new key for a file's bytes: every version has its own, and says for whom it is indexed."""
    return f"files/{mandate_id}/{user_id}/{file_id}/{new_id()}"


@router.get("/files/{file_id}/content")
def get_content(file_id: str, principal: CurrentPrincipal, services: CurrentServices) -> Download:
    """Return a URL that shows the original."""
    with services.database.session(principal) as session:
        item = session.files.get(file_id)
    return Download(url=services.objects.download_url(item.object_key, item.file_name, _shown_type(item.mime_type)))


def _shown_type(mime_type: str) -> str:
    """Return the type a browser is told: what could run scripts in the bucket's origin is shown as text."""
    is_active = any(mark in mime_type for mark in ("html", "xml", "svg", "javascript"))
    return "text/plain; charset=utf-8" if is_active else mime_type


@router.get("/files/{file_id}/index")
def get_index(file_id: str, principal: CurrentPrincipal, services: CurrentServices) -> IndexSummary:
    """Return a file's structure: pages, sections, images."""
    with services.database.session(principal) as session:
        item = session.files.get(file_id)
        index = session.knowledge.index_of(file_id)
    if index is None:
        reason = f": {item.status_reason}" if item.status_reason else ""
        raise Conflict(f"“{item.file_name}” is not indexed; its status is {item.status}{reason}")
    return IndexSummary(structure=index.structure, object_count=index.object_count, chunk_count=index.chunk_count)


@router.get("/files/{file_id}/objects")
def get_objects(
    file_id: str,
    principal: CurrentPrincipal,
    services: CurrentServices,
    page: Annotated[list[int] | None, Query()] = None,
    section_id: Annotated[str | None, Query(alias="sectionId")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 500,
) -> Objects:
    """Return the content of pages or of a section."""
    if page and min(page) < 1:
        raise InvalidInput("Pages are counted from 1.")
    narrow = ObjectFilter(pages=tuple(page or ()), section_id=section_id, limit=limit)
    with services.database.session(principal) as session:
        session.files.get(file_id)
        return Objects(objects=tuple(session.knowledge.objects(file_id, narrow)))
