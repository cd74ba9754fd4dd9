"""The text of a fetched page: main text of HTML without menus and banners, PDF and plain text as they are."""

from urllib.parse import unquote, urlsplit

from werkbank.documents import detect
from werkbank.documents.encoding import decode_text
from werkbank.documents.extract import extract_document
from werkbank.domain.errors import DocumentError, ToolError
from werkbank.websearch.model import WebPage

_HTML = frozenset({detect.HTML, "application/xhtml+xml"})
_TEXT_TYPES = frozenset({"application/json", "application/xml", "application/ld+json"})
# Finding the main text takes seconds beyond this; such pages are machine-made lists, read as they stand.
_MAX_MAIN_TEXT_BYTES = 1_500_000


def is_readable_type(mime_type: str) -> bool:
    """Tell whether pages of a declared type can be read; an empty one is left to what the bytes say."""
    plain = mime_type.lower()
    return not plain or plain in _HTML | _TEXT_TYPES | {detect.PDF} or plain.startswith("text/")


def read_content(data: bytes, url: str, mime_type: str, charset: str | None) -> WebPage:
    """Return title and main text. Raises ToolError for content that is not text, HTML or PDF, or has no text."""
    name = unquote(urlsplit(url).path.rpartition("/")[2]) or "page"
    try:
        if mime_type in _HTML or detect.detect_mime_type(data, name, mime_type or None) == detect.HTML:
            page = _read_html(data, url, charset)
        else:
            page = _read_document(data, url, name, mime_type)
    except DocumentError as error:
        raise ToolError(f"The page cannot be read. {error}") from error
    if not page.text.strip():
        raise ToolError("The page has no text of its own; it may need a browser to be shown. Try another source.")
    return page


def _read_html(data: bytes, url: str, charset: str | None) -> WebPage:
    whole = extract_document(data, "page.html", detect.HTML)
    title = str(whole.structure.metadata.get("title", ""))
    main = _main_text(decode_text(data, charset), url) if len(data) <= _MAX_MAIN_TEXT_BYTES else None
    return WebPage(url, title, main or "\n\n".join(part.data for part in whole.objects if part.data))


def _main_text(markup: str, url: str) -> str | None:
    # Imported when first needed: it brings lxml along.
    import trafilatura

    text: str | None = trafilatura.extract(
        markup, url=url, output_format="markdown", include_comments=False, include_tables=True, favor_recall=True
    )
    return text


def _read_document(data: bytes, url: str, name: str, mime_type: str) -> WebPage:
    actual = detect.detect_mime_type(data, name, mime_type or None)
    if actual != detect.PDF and not is_readable_type(actual):
        raise ToolError(f"The address leads to {detect.describe_type(actual)}; only web pages, texts and PDF are read.")
    document = extract_document(data, name, mime_type or None)
    title = str(document.structure.metadata.get("title") or name)
    return WebPage(url, title, "\n\n".join(part.data for part in document.objects if part.data))
