"""Finds what a model means by a file or folder: it may say the id or the name."""

from werkbank.domain.errors import ToolError
from werkbank.domain.files import FileItem
from werkbank.domain.ids import is_id
from werkbank.tools.context import ToolSession

_MAX_NAMES = 8


def locate_file(session: ToolSession, reference: str) -> FileItem:
    """Return the file with this id or this name. Raises NotFound, or ToolError naming what comes near."""
    reference = reference.strip().removeprefix("@")
    if is_id(reference):
        return session.files.get(reference)
    near = session.files.list(search=reference, limit=_MAX_NAMES + 1)
    exact = [item for item in near if item.file_name.lower() == reference.lower()]
    if exact:
        return exact[0]  # the newest of that name
    if len(near) == 1:
        return near[0]
    if near:
        names = ", ".join(f"“{item.file_name}” ({item.id})" for item in near[:_MAX_NAMES])
        raise ToolError(f"Several files match “{reference}”: {names}. Name one of them in full.")
    raise ToolError(f"There is no file “{reference}”. Use listFiles to see which files there are.")


def not_indexed(item: FileItem) -> ToolError:
    """Return the error for a file whose content cannot be read yet, or never will."""
    reason = f": {item.status_reason}" if item.status_reason else ""
    return ToolError(f"“{item.file_name}” cannot be read; its status is {item.status}{reason}")


def locate_folder(session: ToolSession, reference: str) -> str:
    """Return the id of the folder with this id or name. Raises ToolError."""
    wanted = reference.strip().removeprefix("@").rstrip("/").lower()
    for folder in session.folders.list():
        if wanted in {folder.id, folder.name.lower()}:
            return folder.id
    raise ToolError(f"There is no folder “{reference}”. Use listFiles to see the files and their folders.")
