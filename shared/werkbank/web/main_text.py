"""The text of a fetched page: main text of HTML without menus and banners, PDF and plain text as they are."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from werkbank.documents import detect
from werkbank.documents.encoding import decode_text
from werkbank.documents.extract import extract_document
from werkbank.domain.errors import DocumentError, ToolError
from werkbank.websearch.model import WebPage

# Finding the main text takes many seconds beyond this; such pages are machine-made lists, read as they stand.
MAX_TAGS = 100_000
_MAX_CHARACTERS = 5_000_000
_HTML = frozenset({detect.HTML, "application/xhtml+xml"})
_TEXT_TYPES = frozenset({"application/json", "application/xml"})
_TEXT_SUFFIXES = ("+xml", "+json")  # RFC 6839: feeds and linked data


def is_readable_type(mime_type: str) -> bool:
    """Tell whether pages of a declared type can be read; an empty one is left to what the bytes say."""
    plain = mime_type.lower()
    if plain.startswith("application/") and plain.endswith(_TEXT_SUFFIXES):
        return True
    return not plain or plain in _TEXT_TYPES | {detect.PDF} or plain.startswith("text/")


def read_content(data: bytes, url: str, mime_type: str, charset: str | None) -> Iterator[WebPage]:
    """Yield title and text as they stand, then, of HTML, with the main text alone: the last page is the best.

    Raises ToolError for content that is not text, HTML or PDF, or has no text.
    """
    name = unquote(urlsplit(url).path.rpartition("/")[2]) or "page"
    try:
        is_html = mime_type in _HTML or detect.detect_mime_type(data, name, mime_type or None) == detect.HTML
        page = _as_it_stands(data, url, *(("page.html", detect.HTML) if is_html else (name, mime_type)))
    except DocumentError as error:
        raise ToolError(f"The page cannot be read. {error}") from error
    if not page.text.strip():
        raise ToolError("The page has no text of its own; it may need a browser to be shown. Try another source.")
    yield page
    if is_html and data.count(b"<") <= MAX_TAGS and (text := _main_text(decode_text(data, charset), url)):
        yield replace(page, text=text)


def _as_it_stands(data: bytes, url: str, name: str, mime_type: str) -> WebPage:
    actual = detect.detect_mime_type(data, name, mime_type or None)
    if actual != detect.PDF and not is_readable_type(actual):
        raise ToolError(f"The address leads to {detect.describe_type(actual)}; only web pages, texts and PDF are read.")
    document = extract_document(data, name, mime_type or None)
    title = str(document.structure.metadata.get("title") or ("" if actual == detect.HTML else name))
    return WebPage(url, title, "\n\n".join(part.data for part in document.objects if part.data)[:_MAX_CHARACTERS])


def _main_text(markup: str, url: str) -> str | None:
    # Imported when first needed: it brings lxml along.
    import trafilatura

    text: str | None = trafilatura.extract(
        markup, url=url, output_format="markdown", include_comments=False, include_tables=True, favor_recall=True
    )
    return text
