"""PDF (ISO 32000) by PyMuPDF: each page is read once, and pre-scan and content both come from that reading."""

from collections import Counter
from collections.abc import Sequence

from pydantic import JsonValue

from werkbank.documents.characters import clean_text
from werkbank.documents.detect import PDF
from werkbank.documents.pdf_file import OutlineEntry, read_pdf
from werkbank.documents.pdf_order import reading_order
from werkbank.documents.pdf_page import Block, Page
from werkbank.documents.pdf_sections import (
    Headings,
    SectionTracker,
    find_headings,
    heading_text,
    is_in_margin,
    margin_key,
    repeated_margins,
    with_spans,
)
from werkbank.documents.pdf_text import PUNCTUATION, TextJoiner, continues
from werkbank.domain.documents import ContentObject, ContextRef, DocumentStructure, ExtractedDocument, PageMap

_MIN_TABLE_ROWS = 3


def extract_pdf(data: bytes, file_name: str) -> ExtractedDocument:
    """Return a PDF's text by page and section, the places of its pictures, and its structure (DO-03).

    Raises DocumentError for encrypted, cut-off and empty files, and for scans, which have no text.
    """
    content = read_pdf(data)
    sections = SectionTracker.of(content.outline, len(content.pages))
    return _Assembly(file_name, content.pages, sections).build(content.metadata)


class _Assembly:
    """Turns pages into objects: one per section on a page, in reading order."""

    def __init__(self, file_name: str, pages: Sequence[Page], sections: SectionTracker) -> None:
        self._file_name = file_name
        self._pages = pages
        self._sections = sections
        self._headings: Headings = find_headings(pages)
        self._repeats = repeated_margins(pages)
        self._joiner = TextJoiner(_hyphenated_words(pages))
        self._objects: list[ContentObject] = []
        self._parts: list[str] = []
        self._last: Block | None = None  # the block that the text in hand ends with, unless that is a heading
        self._has_body = False

    def build(self, metadata: dict[str, JsonValue]) -> ExtractedDocument:
        """Return the document."""
        maps = tuple(self._page(page) for page in self._pages)
        structure = DocumentStructure(
            mime_type=PDF,
            page_count=len(self._pages),
            sections=with_spans(self._sections.sections, self._objects),
            pages=maps,
            metadata=metadata,
        )
        return ExtractedDocument(structure=structure, objects=tuple(self._objects))

    def _page(self, page: Page) -> PageMap:
        blocks = reading_order(page)
        if self._repeats or self._sections.outline:
            blocks = [block for block in blocks if not self._is_repeated(block, page)] or blocks
        starts = self._outline_starts(page, blocks)
        headings: list[str] = []
        for index, block in enumerate(blocks):
            for level, title, _ in starts.get(index, ()):
                self._open_section(title, level, page)
            level_of_block = self._headings.level(block, blocks)
            if level_of_block is None:
                self._add_block(block)
                continue
            title = heading_text(block)
            headings.append(title)
            if not self._sections.outline:
                self._open_section(title, level_of_block, page)
            self._add_heading(level_of_block, title)
        if not blocks:
            for level, title, _ in starts.get(0, ()):
                self._open_section(title, level, page)
        self._close(page)
        self._add_images(page)
        return PageMap(
            page_index=page.number,
            text_length=sum(block.length for block in page.blocks),
            headings=tuple(headings),
            images=page.images,
            has_table=_has_table(page.blocks),
        )

    def _is_repeated(self, block: Block, page: Page) -> bool:
        if not is_in_margin(block, page):
            return False
        key = margin_key(block)
        return key in self._repeats or self._sections.is_running_head(key, page.number)

    def _outline_starts(self, page: Page, blocks: Sequence[Block]) -> dict[int, list[OutlineEntry]]:
        if page.number not in self._sections.outline:
            return {}
        texts = [heading_text(block) if len(block.lines) <= 3 else "" for block in blocks]
        return self._sections.entries_starting_at(page.number, texts)

    def _open_section(self, title: str, level: int, page: Page) -> None:
        if self._has_body:  # a heading right below another shares its object: alone it would say nothing
            self._close(page)
        self._sections.open(title, level, page.number)

    def _add_block(self, block: Block) -> None:
        text = self._joiner.block(block)
        if not self._parts:
            self._parts.append(text)
        else:
            goes_on = self._last is not None and continues(self._last, block)
            self._joiner.append(self._parts, " " if goes_on else "\n\n", text)
        self._last, self._has_body = block, True

    def _add_heading(self, level: int, title: str) -> None:
        self._parts += ["\n\n" if self._parts else "", f"{'#' * level} {title}"]
        self._last = None

    def _close(self, page: Page) -> None:
        text = clean_text("".join(self._parts)).strip()
        self._parts, self._last, self._has_body = [], None, False
        if text:
            self._add("text", text, page, {})

    def _add_images(self, page: Page) -> None:
        for x0, y0, x1, y1 in page.images:
            place: dict[str, JsonValue] = {
                "bbox": [x0, y0, x1, y1],
                "width": round(x1 - x0, 1),
                "height": round(y1 - y0, 1),
            }
            self._add("image", "", page, place)

    def _add(self, kind: str, data: str, page: Page, metadata: dict[str, JsonValue]) -> None:
        section = self._sections.current
        number = len(self._objects)
        ref = ContextRef(
            container_path=self._file_name,
            location=f"page:{page.number}/block:{number + 1}",
            label=section.title if section else None,
            page_index=page.number,
            section_id=section.id if section else None,
        )
        self._objects.append(
            ContentObject(
                sequence=number,
                content_type="text" if kind == "text" else "image",
                data=data,
                ref=ref,
                metadata=metadata,
            )
        )


def _hyphenated_words(pages: Sequence[Page]) -> frozenset[str]:
    lines = (line.text for page in pages for block in page.blocks for line in block.lines if "-" in line.text)
    return frozenset(word.strip(PUNCTUATION).lower() for text in lines for word in text.split() if "-" in word)


def _has_table(blocks: Sequence[Block]) -> bool:
    """A hint, not a proof: several rows of three and more pieces of text side by side."""
    rows = Counter(int(line.y1 / 2) for block in blocks for line in block.lines)
    return sum(count >= 3 for count in rows.values()) >= _MIN_TABLE_ROWS
