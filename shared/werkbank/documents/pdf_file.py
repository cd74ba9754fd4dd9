"""Opens PDF files (ISO 32000) and reads their pages: the only module that knows PyMuPDF, whose API has no types."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from werkbank.documents.characters import squeeze
from werkbank.documents.pdf_page import Box, Page, keep_images, read_blocks
from werkbank.domain.errors import DocumentError

if TYPE_CHECKING:
    import pymupdf

_END_BYTES = 4_096
_DAMAGED_SHARE = 0.1
_METADATA = ("title", "author", "subject", "creationDate", "modDate")

OutlineEntry = tuple[int, str, int]


class PdfContent(NamedTuple):
    """What is read of a file: pages, the outline as (level, title, page), and metadata for its structure."""

    pages: list[Page]
    outline: list[OutlineEntry]
    metadata: dict[str, JsonValue]


def read_pdf(data: bytes) -> PdfContent:
    """Read every page once. Raises DocumentError for encrypted, cut-off and empty files, and for scans."""
    with _open(data) as document:
        pages, unreadable = _read_pages(document)
        outline = _outline(document)
        metadata = _metadata(document)
        is_repaired = bool(document.is_repaired)
    if unreadable:
        metadata["unreadablePages"] = list[JsonValue](unreadable)
    _check(pages, unreadable, is_repaired)
    return PdfContent(pages, outline, metadata)


def _outline(document: "pymupdf.Document") -> list[OutlineEntry]:
    try:
        return [(level, title, page) for level, title, page in document.get_toc()]
    except (RuntimeError, ValueError, IndexError, TypeError):  # a damaged outline is no reason to lose the text
        return []


@contextmanager
def _open(data: bytes) -> Iterator["pymupdf.Document"]:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)  # type: ignore[no-untyped-call]
    pymupdf.TOOLS.mupdf_display_warnings(False)  # type: ignore[no-untyped-call]
    try:
        document = pymupdf.open(stream=data, filetype="pdf")  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError, TypeError, AttributeError) as error:
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
        except (RuntimeError, ValueError, IndexError, KeyError, TypeError):
            unreadable.append(number)
            pages.append(Page(number, 1.0, 1.0, [], ()))
    return pages, unreadable


def _read_page(page: "pymupdf.Page", number: int, flags: int) -> Page:
    raw = page.get_text("dict", flags=flags)  # type: ignore[no-untyped-call]
    blocks = read_blocks(raw["blocks"])
    images: tuple[Box, ...] = ()
    has_pictures = False
    # A second pass over the page, but only where it has pictures.
    if not blocks or page.get_images():  # type: ignore[no-untyped-call]
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
