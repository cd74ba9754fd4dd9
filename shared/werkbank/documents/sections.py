"""Looking into a document that is already extracted: sections, selections, and the outline for a prompt (DO-04)."""

from collections.abc import Collection, Iterable, Sequence

from werkbank.domain.documents import ContentObject, ContentType, DocumentStructure, Section
from werkbank.domain.errors import NotFound

MAX_OUTLINE_CHARACTERS = 6_000
_TITLE_CHARACTERS = 80


def find_section(structure: DocumentStructure, section_id: str) -> Section:
    """Return a section by its id or, as models like to write it, by its exact title. Raises NotFound."""
    wanted = section_id.strip().casefold()
    for section in structure.sections:
        if section.id == section_id.strip():
            return section
    for section in structure.sections:
        if section.title.casefold() == wanted:
            return section
    raise NotFound(f"The document has no section “{section_id}”; browse it to see its sections.")


def section_ids_within(structure: DocumentStructure, section_id: str) -> frozenset[str]:
    """Return the id of a section and of all sections inside it. Raises NotFound."""
    section = find_section(structure, section_id)
    start = structure.sections.index(section)
    inner = [section.id]
    for later in structure.sections[start + 1 :]:
        if later.level <= section.level:
            break
        inner.append(later.id)
    return frozenset(inner)


def select_objects(
    objects: Iterable[ContentObject],
    structure: DocumentStructure,
    *,
    pages: Collection[int] | None = None,
    section_id: str | None = None,
    content_types: Collection[ContentType] | None = None,
) -> tuple[ContentObject, ...]:
    """Return the objects that meet every condition given, in reading order.

    Pages (slides for presentations) count from 1; a section includes its subsections. Raises NotFound for a section
    that does not exist.
    """
    sections = None if section_id is None else section_ids_within(structure, section_id)
    return tuple(
        item
        for item in objects
        if (pages is None or item.ref.page_index in pages or item.ref.slide_index in pages)
        and (sections is None or item.ref.section_id in sections)
        and (content_types is None or item.content_type in content_types)
    )


def outline(structure: DocumentStructure, file_name: str, max_characters: int = MAX_OUTLINE_CHARACTERS) -> str:
    """Describe a document for a prompt: its kind and size, then its sections with pages.

    The deepest levels are left out first, then the end, so that the text never exceeds `max_characters`.
    """
    head = f"{file_name} ({_facts(structure)})"
    levels = sorted({section.level for section in structure.sections}, reverse=True)
    for deepest in levels:
        lines = [_line(section) for section in structure.sections if section.level <= deepest]
        text = "\n".join([head, *lines])
        if len(text) <= max_characters:
            return text
    shown = [_line(section) for section in structure.sections if section.level == min(levels, default=1)]
    return _shortened(head, shown, max_characters)


def _facts(structure: DocumentStructure) -> str:
    title = structure.metadata.get("title")
    images = sum(len(page.images) for page in structure.pages)
    tables = sum(page.has_table for page in structure.pages)
    facts = [
        structure.mime_type,
        f"“{title[:_TITLE_CHARACTERS]}”" if isinstance(title, str) and title else "",
        f"{structure.page_count} pages" if structure.page_count else "",
        f"{len(structure.sections)} sections" if structure.sections else "",
        f"{images} pictures" if images else "",
        f"tables on about {tables} pages" if tables else "",
    ]
    return ", ".join(filter(None, facts))


def _line(section: Section) -> str:
    pages = ""
    if section.start_page is not None:
        until = f"–{section.end_page}" if section.end_page and section.end_page != section.start_page else ""
        pages = f" (p. {section.start_page}{until})"
    return f"{'  ' * section.level}[{section.id}] {section.title[:_TITLE_CHARACTERS]}{pages}"


def _shortened(head: str, lines: Sequence[str], max_characters: int) -> str:
    kept: list[str] = [head[: max_characters // 2]]
    room = max_characters - len(kept[0]) - len("\n… and 00000 more sections")
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            kept.append(f"… and {len(lines) - len(kept) + 1} more sections")
            break
        kept.append(line)
    return "\n".join(kept)[:max_characters]
