"""Folders (FM-01)."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from werkbank.domain.base import WireModel
from werkbank.domain.files import FileFolder
from werkbank.domain.ids import new_id
from werkbank.rest.access import CurrentPrincipal, CurrentServices

router = APIRouter(tags=["folders"])

FolderName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^/\\\x00-\x1f]+$")]


class Folder(WireModel):
    """A folder as its user sees it."""

    id: str
    parent_id: str | None
    name: str
    auto_rule: str | None
    neutralize: bool
    created_at: datetime

    @classmethod
    def of(cls, folder: FileFolder) -> "Folder":
        """Return the public part of a stored folder."""
        return cls(**{name: getattr(folder, name) for name in cls.model_fields})


class FolderList(WireModel):
    """Folders by name."""

    folders: tuple[Folder, ...]


class NewFolder(WireModel):
    """A folder to make; `parent_id` null means at the top."""

    name: FolderName
    parent_id: str | None = None


class FolderChange(WireModel):
    """What to change; `parent_id` null moves to the top."""

    name: FolderName | None = None
    parent_id: str | None = None


@router.get("/folders")
def list_folders(principal: CurrentPrincipal, services: CurrentServices) -> FolderList:
    """List the user's folders."""
    with services.database.session(principal) as session:
        return FolderList(folders=tuple(Folder.of(folder) for folder in session.folders.list()))


@router.post("/folders", status_code=201)
def create_folder(body: NewFolder, principal: CurrentPrincipal, services: CurrentServices) -> Folder:
    """Make a folder."""
    folder = FileFolder(
        id=new_id(), mandate_id=principal.mandate_id, user_id=principal.user_id, parent_id=body.parent_id,
        name=body.name, created_at=services.clock(),
    )  # fmt: skip
    with services.database.session(principal) as session:
        session.mandates.ensure(services.mandate_limit_chf)
        return Folder.of(session.folders.add(folder))


@router.patch("/folders/{folder_id}")
def change_folder(folder_id: str, body: FolderChange, principal: CurrentPrincipal, services: CurrentServices) -> Folder:
    """Rename or move a folder."""
    to_top = "parent_id" in body.model_fields_set and body.parent_id is None
    with services.database.session(principal) as session:
        return Folder.of(session.folders.update(folder_id, name=body.name, parent_id=body.parent_id, to_top=to_top))


@router.delete("/folders/{folder_id}", status_code=204)
def delete_folder(
    folder_id: str, principal: CurrentPrincipal, services: CurrentServices, recursive: bool = False
) -> Response:
    """Delete a folder; its files move to the top. With `recursive` the folders within it go too."""
    with services.database.session(principal) as session:
        session.folders.delete(folder_id, recursive=recursive)
    return Response(status_code=204)
