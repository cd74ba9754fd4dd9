"""Puts a flowing document (no pages) together: headings open sections, paragraphs gather into objects."""

from pydantic import JsonValue

from werkbank.documents.characters import clean_text, squeeze
from werkbank.domain.documents import (
    ContentObject,
    ContentType,
    ContextRef,
    DocumentStructure,
    ExtractedDocument,
    Section,
)

MAX_OBJECT_CHARACTERS = 4_000
MAX_HEADING_LEVEL = 6
MAX_TITLE_CHARACTERS = 200


class DocumentBuilder:
    """Collects content in reading order; `build` gives the document.

    Text stands in one object per section, or several when the section is long, so that a reference names a passage
    that a reader finds.
    """

    def __init__(self, file_name: str, mime_type: str) -> None:
        self._file_name = file_name
        self._mime_type = mime_type
        self._sections: list[Section] = []
        self._objects: list[ContentObject] = []
        self._paragraphs: list[str] = []
        self._size = 0
        self._has_body = False

    def heading(self, text: str, level: int) -> None:
        """Open a section called `text`; levels count from 1."""
        title = squeeze(text)
        if not title:
            return
        if self._has_body:  # a heading right below another shares its object: alone it would say nothing
            self.flush()
        level = min(max(level, 1), MAX_HEADING_LEVEL)
        identifier = f"s{len(self._sections) + 1}"
        self._sections.append(
            Section(id=identifier, title=title[:MAX_TITLE_CHARACTERS], level=level, start_sequence=len(self._objects))
        )
        has_body = self._has_body
        self._add(f"{'#' * level} {title}", "\n\n")
        self._has_body = has_body

    def paragraph(self, text: str) -> None:
        """Add a paragraph, set off by an empty line."""
        self._add(clean_text(text).strip("\n"), "\n\n")

    def line(self, text: str) -> None:
        """Add a line that belongs to the one before it: a list item, a row of an address."""
        self._add(clean_text(text).strip("\n"), "\n")

    def _add(self, text: str, joint: str) -> None:
        if not text.strip():
            return
        if self._size + len(text) > MAX_OBJECT_CHARACTERS and self._size:
            self.flush()
        self._paragraphs += [joint, text] if self._paragraphs else [text]
        self._size += len(text)
        self._has_body = True

    def flush(self) -> None:
        """Close the text object in hand; the next paragraph begins a new one."""
        if self._paragraphs:
            self.add_object("text", "".join(self._paragraphs))
        self._paragraphs, self._size, self._has_body = [], 0, False

    def table(self, markdown: str, label: str | None = None) -> None:
        """Add a table, already Markdown, as an object of its own."""
        if markdown:
            self.flush()
            self.add_object("text", markdown, label, {"kind": "table"})

    def image(self, label: str | None = None, metadata: dict[str, JsonValue] | None = None) -> None:
        """Add a picture: what is known about it, not its bytes."""
        self.flush()
        self.add_object("image", "", squeeze(label or "") or None, metadata)

    def add_object(
        self, kind: ContentType, data: str, label: str | None = None, metadata: dict[str, JsonValue] | None = None
    ) -> None:
        """Add one object in the present section."""
        number = len(self._objects) + 1
        section = self._sections[-1] if self._sections else None
        ref = ContextRef(
            container_path=self._file_name,
            location=f"section:{section.id}/block:{number}" if section else f"block:{number}",
            label=label or (section.title if section else None),
            section_id=section.id if section else None,
        )
        self._objects.append(
            ContentObject(sequence=number - 1, content_type=kind, data=data, ref=ref, metadata=metadata or {})
        )

    def build(self, metadata: dict[str, JsonValue] | None = None) -> ExtractedDocument:
        """Return what was collected."""
        self.flush()
        structure = DocumentStructure(
            mime_type=self._mime_type, sections=tuple(self._sections), metadata=metadata or {}
        )
        return ExtractedDocument(structure=structure, objects=tuple(self._objects))
