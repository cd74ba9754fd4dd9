"""PDF (ISO 32000) by PyMuPDF: each page is read once, and pre-scan and content both come from that reading."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import JsonValue

from werkbank.documents.characters import clean_text, squeeze
from werkbank.documents.detect import PDF
from werkbank.documents.pdf_order import reading_order
from werkbank.documents.pdf_page import Block, Box, Page, keep_images, read_blocks
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
from werkbank.documents.pdf_text import TextJoiner, continues
from werkbank.domain.documents import ContentObject, ContextRef, DocumentStructure, ExtractedDocument, PageMap
from werkbank.domain.errors import DocumentError

if TYPE_CHECKING:
    import pymupdf

_END_BYTES = 4_096
_MIN_TABLE_ROWS = 3
_DAMAGED_SHARE = 0.1
_METADATA = ("title", "author", "subject", "creationDate", "modDate")


def extract_pdf(data: bytes, file_name: str) -> ExtractedDocument:
    """Return a PDF's text by page and section, the places of its pictures, and its structure (DO-03).

    Raises DocumentError for encrypted, cut-off and empty files, and for scans, which have no text.
    """
    with _open(data) as document:
        pages, unreadable = _read_pages(document)
        outline = [(entry[0], entry[1], entry[2]) for entry in document.get_toc()]
        metadata = _metadata(document)
        is_repaired = bool(document.is_repaired)
    if unreadable:
        metadata["unreadablePages"] = list[JsonValue](unreadable)
    _check(pages, unreadable, is_repaired)
    return _Assembly(file_name, pages, SectionTracker.of(outline, len(pages))).build(metadata)


@contextmanager
def _open(data: bytes) -> Iterator["pymupdf.Document"]:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(stream=data, filetype="pdf")
    except (RuntimeError, ValueError) as error:
        raise DocumentError(_cut_off_or_damaged(data)) from error
    with document:
        if document.needs_pass:
            raise DocumentError("The PDF is protected with a password. Remove the password and upload it again.")
        if document.is_repaired and _lacks_end(data):
            raise DocumentError(_cut_off_or_damaged(data))
        if document.page_count == 0:
            raise DocumentError("The PDF has no pages. Check the file in a PDF reader and upload it again.")
        yield document


def _lacks_end(data: bytes) -> bool:
    """A whole PDF ends in `%%EOF`; MuPDF would otherwise repair half a document without a word."""
    return b"%%EOF" not in data.rstrip(b"\x00\r\n\t ")[-_END_BYTES:]


def _cut_off_or_damaged(data: bytes) -> str:
    if _lacks_end(data):
        return "The PDF is cut off: its end is missing, so pages would be lost. Upload the complete file."
    return "The PDF is damaged and cannot be opened. Save or print it as PDF again and upload that."


def _read_pages(document: "pymupdf.Document") -> tuple[list[Page], list[int]]:
    import pymupdf

    # Image bytes stay out of the dictionary, ligatures come as letters.
    flags = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES & ~pymupdf.TEXT_PRESERVE_LIGATURES
    pages: list[Page] = []
    unreadable: list[int] = []
    for number in range(1, document.page_count + 1):
        try:
            pages.append(_read_page(document[number - 1], number, flags))
        except (RuntimeError, ValueError, IndexError):
            unreadable.append(number)
            pages.append(Page(number, 1.0, 1.0, [], ()))
    return pages, unreadable


def _read_page(page: "pymupdf.Page", number: int, flags: int) -> Page:
    raw = page.get_text("dict", flags=flags)
    blocks = read_blocks(raw["blocks"])
    images: tuple[Box, ...] = ()
    has_pictures = False
    if not blocks or page.get_images():  # a second pass over the page only where it has pictures
        boxes = [info["bbox"] for info in page.get_image_info()]
        images, has_pictures = keep_images(boxes), bool(boxes)
    return Page(number, raw["width"] or 1.0, raw["height"] or 1.0, blocks, images, has_pictures)


def _metadata(document: "pymupdf.Document") -> dict[str, JsonValue]:
    info = document.metadata or {}
    metadata: dict[str, JsonValue] = {key: text for key in _METADATA if (text := squeeze(info.get(key) or ""))}
    if names := document.embfile_names():
        metadata["attachments"] = [squeeze(name) for name in names[:100]]
    return metadata


def _check(pages: Sequence[Page], unreadable: Sequence[int], is_repaired: bool) -> None:
    if len(unreadable) * 2 > len(pages):
        raise DocumentError("The PDF is damaged: most of its pages cannot be read. Save it again and upload that.")
    sample = "".join(line.text for page in pages for block in page.blocks for line in block.lines)[:200_000]
    if not sample.strip():
        if any(page.has_pictures for page in pages):
            raise DocumentError(
                "The PDF holds only pictures of pages (a scan) and no text. It needs text recognition (OCR): "
                "run it through an OCR program first, then upload it again."
            )
        raise DocumentError("The PDF has no text: all of its pages are blank or drawings.")
    damaged = sum(map(sample.count, "\ufffd\x00"))
    if damaged > _DAMAGED_SHARE * len(sample) and (is_repaired or damaged > len(sample) / 2):
        raise DocumentError("The PDF is damaged: its text cannot be decoded. Print it as PDF again and upload that.")


class _Assembly:
    """Turns pages into objects: one per section on a page, in reading order."""

    def __init__(self, file_name: str, pages: Sequence[Page], sections: SectionTracker) -> None:
        self._file_name = file_name
        self._pages = pages
        self._sections = sections
        self._headings: Headings = find_headings(pages)
        self._repeats = repeated_margins(pages)
        self._joiner = TextJoiner(_vocabulary(pages))
        self._objects: list[ContentObject] = []
        self._parts: list[str] = []
        self._last: Block | None = None  # the block that the text in hand ends with, unless that is a heading

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
        if self._repeats:
            blocks = [block for block in blocks if not self._is_repeated(block, page)] or blocks
        starts = self._outline_starts(page, blocks)
        headings: list[str] = []
        for index, block in enumerate(blocks):
            for level, title, _ in starts.get(index, ()):
                self._open_section(title, level, page)
            level_of_block = self._headings.level(block)
            if level_of_block is None:
                self._add_block(block)
                continue
            title = heading_text(block)
            headings.append(title)
            if not self._sections.outline:
                self._open_section(title, level_of_block, page)
            self._parts += ["\n\n" if self._parts else "", f"{'#' * level_of_block} {title}"]
            self._last = None
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
        return is_in_margin(block, page) and margin_key(block) in self._repeats

    def _outline_starts(self, page: Page, blocks: Sequence[Block]) -> dict[int, list[tuple[int, str, int]]]:
        if page.number not in self._sections.outline:
            return {}
        texts = [heading_text(block) if len(block.lines) <= 3 else "" for block in blocks]
        return self._sections.entries_starting_at(page.number, texts)

    def _open_section(self, title: str, level: int, page: Page) -> None:
        self._close(page)
        self._sections.open(title, level, page.number)

    def _add_block(self, block: Block) -> None:
        text = self._joiner.block(block)
        if not self._parts:
            self._parts.append(text)
        else:
            goes_on = self._last is not None and continues(self._last, block)
            self._joiner.append(self._parts, " " if goes_on else "\n\n", text)
        self._last = block

    def _close(self, page: Page) -> None:
        text = clean_text("".join(self._parts)).strip()
        self._parts, self._last = [], None
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


def _vocabulary(pages: Sequence[Page]) -> frozenset[str]:
    words: set[str] = set()
    for page in pages:
        for block in page.blocks:
            for line in block.lines:
                words.update(line.text.lower().split())
    return frozenset(words)


def _has_table(blocks: Sequence[Block]) -> bool:
    """A hint, not a proof: several rows of three and more pieces of text side by side."""
    rows = Counter(int(line.y1 / 2) for block in blocks for line in block.lines)
    return sum(count >= 3 for count in rows.values()) >= _MIN_TABLE_ROWS
