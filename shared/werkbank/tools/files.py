"""Tools on files (TB-05): list, read, search, write."""

import fnmatch
import mimetypes
from typing import Annotated, Literal

from pydantic import Field

from werkbank.documents.encoding import decode_text
from werkbank.domain.documents import ContentObject
from werkbank.domain.errors import ToolError
from werkbank.domain.files import FileItem
from werkbank.domain.ids import derived_id
from werkbank.knowledge.model import ObjectFilter
from werkbank.tools.citing import cite_pages
from werkbank.tools.context import ToolContext
from werkbank.tools.effects import Effect
from werkbank.tools.locate import locate_file, locate_folder, not_indexed
from werkbank.tools.registry import tool

FileReference = Annotated[str, Field(description="The file's id or its name.", min_length=1, max_length=300)]

_MAX_LISTED = 100
_MAX_LINES = 400
_MAX_HITS = 40
_MAX_WRITTEN_CHARACTERS = 1_000_000
# Formats whose bytes are the text; everything else is read through its index.
_PLAIN = ("text/", "application/json", "application/xml", "application/yaml")


@tool(read_only=True)
def list_files(
    context: ToolContext,
    folder: Annotated[str | None, Field(description="Only files of this folder (name or id).")] = None,
    tag: Annotated[str | None, Field(description="Only files with this tag.")] = None,
    mime_type: Annotated[
        str | None, Field(description="Only files of this MIME type, such as application/pdf.")
    ] = None,
    pattern: Annotated[str | None, Field(description="Shell pattern on the name, such as *.pdf or report*.")] = None,
    search: Annotated[str | None, Field(description="Part of the name, in any case.")] = None,
) -> str:
    """List the user's files with id, type, size and status, newest first."""
    with context.database.session(context.principal) as session:
        folder_id = locate_folder(session, folder) if folder else None
        files = session.files.list(folder_id=folder_id, tag=tag, mime_type=mime_type, search=search)
        folders = {item.id: item.name for item in session.folders.list()}
    if pattern:
        files = tuple(item for item in files if fnmatch.fnmatch(item.file_name.lower(), pattern.lower()))
    if not files:
        return "No files match."
    lines = [_line(item, folders) for item in files[:_MAX_LISTED]]
    more = len(files) - len(lines)
    return "\n".join([f"{len(files)} files:", *lines, *([f"… {more} more; narrow the search."] if more > 0 else [])])


def _line(item: FileItem, folders: dict[str, str]) -> str:
    parts = [item.mime_type, f"{item.size:,} bytes", item.status]
    if item.folder_id in folders:
        parts.append(f"folder {folders[item.folder_id or '']}")
    if item.tags:
        parts.append(f"tags {', '.join(item.tags)}")
    return f"- {item.file_name} (id {item.id}; {'; '.join(parts)})"


@tool(read_only=True)
def read_file(
    context: ToolContext,
    file: FileReference,
    start_line: Annotated[int, Field(ge=1, description="First line to read.")] = 1,
    end_line: Annotated[int | None, Field(ge=1, description="Last line to read; at most 400 lines are read.")] = None,
) -> str:
    """Read a file's text by lines. For long documents use browseContainer first, then readContentObjects by page."""
    with context.database.session(context.principal) as session:
        item = locate_file(session, file)
    lines = _text(context, item).splitlines()
    last = min(end_line or len(lines), start_line + _MAX_LINES - 1, len(lines))
    if start_line > len(lines):
        raise ToolError(f"“{item.file_name}” has only {len(lines)} lines.")
    shown = "\n".join(lines[start_line - 1 : last])
    return f"{item.file_name}, lines {start_line}–{last} of {len(lines)}:\n\n{shown}"


def _text(context: ToolContext, item: FileItem) -> str:
    if item.mime_type.startswith(_PLAIN):
        return decode_text(context.objects.get(item.object_key))
    return "\n\n".join(part.data for part in _indexed(context, item) if part.data)


def _indexed(context: ToolContext, item: FileItem) -> list[ContentObject]:
    """Return a file's text objects. Raises ToolError while there is no index."""
    with context.database.session(context.principal) as session:
        if session.knowledge.index_of(item.id) is None:
            raise not_indexed(item)
        return list(session.knowledge.objects(item.id, ObjectFilter(content_type="text", limit=10_000)))


@tool(read_only=True)
def search_in_file_content(
    context: ToolContext,
    file: FileReference,
    text: Annotated[str, Field(min_length=1, max_length=500, description="Text to find, word for word, in any case.")],
) -> str:
    """Find every place in one file where a text stands, with a few words around it."""
    with context.database.session(context.principal) as session:
        item = locate_file(session, file)
    wanted = " ".join(text.lower().split())
    parts = [(part, " ".join(part.data.split())) for part in _indexed(context, item)]
    hits = [(part, flat) for part, flat in parts if wanted in flat.lower()]
    if not hits:
        return f"“{text}” does not occur in {item.file_name}."
    excerpts = [(part, _around(flat, wanted)) for part, flat in hits[:_MAX_HITS]]
    head = f"“{text}” occurs in {len(hits)} places of {item.file_name}:"
    return f"{head}\n\n{cite_pages(context, item, excerpts)}"


def _around(flat: str, wanted: str, width: int = 200) -> str:
    at = flat.lower().index(wanted)
    start, end = max(0, at - width), min(len(flat), at + len(wanted) + width)
    return f"{'… ' if start else ''}{flat[start:end]}{' …' if end < len(flat) else ''}"


@tool(read_only=True)
def search_files(
    context: ToolContext,
    query: Annotated[str, Field(min_length=1, max_length=1_000, description="What to look for, in plain words.")],
    files: Annotated[
        list[FileReference] | None, Field(max_length=50, description="Only these files (ids or names).")
    ] = None,
    limit: Annotated[int, Field(ge=1, le=20, description="How many passages.")] = 8,
) -> str:
    """Search the content of all files by meaning and by words; returns numbered passages that can be cited."""
    with context.database.session(context.principal) as session:
        file_ids = [locate_file(session, reference).id for reference in files or []]
    return context.passages.search_block(context.run, query, file_ids, limit) or "No passage matches."


# Also a new file: one that a mail had written would pass for the user's own.
@tool(safe_to_repeat=True, effects={Effect.DELETE})
def write_file(
    context: ToolContext,
    name: Annotated[
        str, Field(min_length=1, max_length=200, description="File name with extension, such as notes.md.")
    ],
    content: Annotated[str, Field(max_length=_MAX_WRITTEN_CHARACTERS, description="The text to write.")],
    mode: Annotated[
        Literal["create", "append", "overwrite"],
        Field(description="create makes a new file; append and overwrite change an existing text file."),
    ] = "create",
) -> str:
    """Write a text file into the user's workspace."""
    if "/" in name or "\\" in name or not name.strip(". "):
        raise ToolError("A file name has no slashes and is not made of dots.")
    mime_type = mimetypes.guess_type(name)[0] or "text/plain"
    if not mime_type.startswith(_PLAIN):
        raise ToolError(
            f"writeFile writes text files; “{name}” would be {mime_type}. Use .txt, .md, .csv, .html or .json."
        )
    item = _create(context, name, content, mime_type) if mode == "create" else _change(context, name, content, mode)
    context.emit("fileCreated", {"fileId": item.id, "fileName": item.file_name})
    return f"Wrote {item.file_name} (id {item.id}, {item.size:,} bytes)."


def _create(context: ToolContext, name: str, content: str, mime_type: str) -> FileItem:
    data = content.encode()
    file_id = derived_id("file", context.idempotency_key)
    now = context.clock()
    item = FileItem(
        id=file_id, mandate_id=context.principal.mandate_id, user_id=context.principal.user_id, file_name=name.strip(),
        mime_type=mime_type, size=len(data), object_key=_key(context, file_id), created_at=now, updated_at=now,
    )  # fmt: skip
    with context.database.session(context.principal) as session:
        # Whoever hears of the object waits at this lock until the row is there.
        session.files.lock(file_id)
        stored = session.files.add(item)
        context.objects.put(item.object_key, data, mime_type)
    return stored


def _change(context: ToolContext, reference: str, content: str, mode: Literal["append", "overwrite"]) -> FileItem:
    with context.database.session(context.principal) as session:
        file_id = locate_file(session, reference).id
        session.files.lock(file_id)
        item = session.files.get(file_id)
        key = _key(context, file_id)
        if item.object_key == key:
            return item  # an earlier try of this very call got through
        if session.briefings.is_skill(file_id):
            # What a text talks a model into writing must not come back as an instruction (AG-18).
            raise ToolError(f"“{item.file_name}” is a skill; only a person may change it. Write another file.")
        if not item.mime_type.startswith(_PLAIN):
            raise ToolError(f"“{item.file_name}” is {item.mime_type}; only text files can be changed this way.")
        before = decode_text(context.objects.get(item.object_key)) if mode == "append" else ""
        data = (before + content).encode()
        session.files.set_content(file_id, key, len(data), item.mime_type)
        context.objects.put(key, data, item.mime_type)
        return session.files.get(file_id)


def _key(context: ToolContext, file_id: str) -> str:
    """Name the object of this call: every version of a file has its own key, the same call always the same."""
    owner = context.principal
    return f"files/{owner.mandate_id}/{owner.user_id}/{file_id}/{context.idempotency_key}"
