"""What an extractor finds in a file (001 §5.4), and the pieces of it that are embedded and searched."""

from typing import Literal

from pydantic import Field, JsonValue

from werkbank.domain.base import WireModel

ContentType = Literal["text", "image", "videostream", "audiostream", "other"]


class ContextRef(WireModel):
    """Where in a file something stands. Page and slide numbers count from 1, as a reader counts."""

    container_path: str
    location: str
    label: str | None = None
    page_index: int | None = None
    section_id: str | None = None
    sheet_name: str | None = None
    slide_index: int | None = None

    def describe(self) -> str:
        """Say the place as a citation does: `report.pdf, page 5`."""
        places = [
            f"page {self.page_index}" if self.page_index is not None else None,
            f"slide {self.slide_index}" if self.slide_index is not None else None,
            f"sheet {self.sheet_name}" if self.sheet_name is not None else None,
        ]
        place = next((text for text in places if text), f"“{self.label}”" if self.label else None)
        return f"{self.container_path}, {place}" if place else self.container_path


class ContentObject(WireModel):
    """One scalar piece of content in reading order; `data` is text (Markdown for tables) or empty for media."""

    sequence: int
    content_type: ContentType
    data: str
    ref: ContextRef
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Section(WireModel):
    """A heading and the span it governs, from the table of contents or from font sizes."""

    id: str
    title: str
    level: int = Field(ge=1)
    start_page: int | None = None
    end_page: int | None = None
    start_sequence: int | None = None


class PageMap(WireModel):
    """What a pre-scan knows of one page without reading it closely."""

    page_index: int
    text_length: int
    headings: tuple[str, ...] = ()
    images: tuple[tuple[float, float, float, float], ...] = ()
    has_table: bool = False


class DocumentStructure(WireModel):
    """The pre-scan of a file: a table of contents and a map, made without AI in seconds (DO-03)."""

    mime_type: str
    page_count: int | None = None
    sections: tuple[Section, ...] = ()
    pages: tuple[PageMap, ...] = ()
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class ExtractedDocument(WireModel):
    """Everything extraction gives for one file."""

    structure: DocumentStructure
    objects: tuple[ContentObject, ...]


class Chunk(WireModel):
    """A passage of about 512 tokens within one structural unit: what is embedded, searched and cited."""

    sequence: int
    object_sequence: int
    text: str
    ref: ContextRef
    token_count: int
