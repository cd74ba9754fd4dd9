"""Tools on the structure of documents (TB-09, DO-04): look at the outline, then read only what is needed."""

from typing import Annotated

from pydantic import Field

from werkbank.documents.sections import outline, select_objects
from werkbank.domain.documents import ContentType
from werkbank.domain.errors import ToolError
from werkbank.knowledge.model import ObjectFilter
from werkbank.tools.citing import cite_pages
from werkbank.tools.context import ToolContext
from werkbank.tools.files import FileReference
from werkbank.tools.locate import locate_file, not_indexed
from werkbank.tools.registry import tool

_MAX_OBJECTS = 200


@tool(read_only=True)
def browse_container(context: ToolContext, file: FileReference) -> str:
    """Show a file's structure without reading it: pages, sections with their ids, images, tables."""
    with context.database.session(context.principal) as session:
        item = locate_file(session, file)
        index = session.knowledge.index_of(item.id)
    if index is None:
        raise not_indexed(item)
    return f"{outline(index.structure, item.file_name)}\n{index.object_count} content objects."


@tool(read_only=True)
def read_content_objects(
    context: ToolContext,
    file: FileReference,
    pages: Annotated[
        list[int] | None, Field(max_length=50, description="Page (or slide) numbers, counted from 1.")
    ] = None,
    section_id: Annotated[
        str | None, Field(description="A section's id, as browseContainer shows it; its subsections come along.")
    ] = None,
    content_type: Annotated[ContentType | None, Field(description="Only content of this type.")] = None,
) -> str:
    """Read parts of a document by page, section or type; returns numbered passages that can be cited."""
    with context.database.session(context.principal) as session:
        item = locate_file(session, file)
        index = session.knowledge.index_of(item.id)
        objects = session.knowledge.objects(item.id, ObjectFilter(pages=tuple(pages or ()), limit=10_000))
    if index is None:
        raise not_indexed(item)
    types = {content_type} if content_type else None
    found = select_objects(objects, index.structure, section_id=section_id, content_types=types)[:_MAX_OBJECTS]
    if not found:
        raise ToolError(f"“{item.file_name}” has no such content. browseContainer shows its pages and section ids.")
    excerpts = [(part, part.data or f"({part.content_type})") for part in found]
    return cite_pages(context, item, excerpts)
