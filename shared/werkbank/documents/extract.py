"""The one way from a file's bytes to its content: detect the type, look its extractor up, run it safely."""

from collections.abc import Callable

from werkbank.documents import detect, docx, html, pdf, text
from werkbank.domain.documents import ExtractedDocument
from werkbank.domain.errors import DocumentError

Extractor = Callable[[bytes, str], ExtractedDocument]

# A new format is a module with such a function, and a line here.
EXTRACTORS: dict[str, Extractor] = {
    detect.PDF: pdf.extract_pdf,
    detect.DOCX: docx.extract_docx,
    detect.HTML: html.extract_html,
    detect.PLAIN: text.extract_plain,
    detect.MARKDOWN: text.extract_markdown,
    detect.CSV: text.extract_csv,
    detect.TSV: text.extract_csv,
    detect.JSON: text.extract_plain,
    detect.XML: text.extract_plain,
}


def extract_document(data: bytes, file_name: str, mime_type: str | None = None) -> ExtractedDocument:
    """Return the content objects of a file in reading order and its structure (DO-02, DO-03).

    `mime_type` is what the uploader declared; the bytes overrule it. Raises DocumentError, and nothing else, with a
    sentence for a person that names the reason and what to do.
    """
    actual = detect.detect_mime_type(data, file_name, mime_type)
    if actual == detect.ENCRYPTED_OFFICE:
        raise DocumentError("The file is protected with a password. Remove the password and upload it again.")
    extractor = EXTRACTORS.get(actual)
    if extractor is None:
        raise DocumentError(f"“{file_name}” is {detect.describe_type(actual)}; Werkbank cannot read that yet.")
    try:
        document = extractor(data, file_name)
    except DocumentError:
        raise
    except (MemoryError, RecursionError) as error:
        raise DocumentError("The file is too large or too deeply nested to be read. Split it and try again.") from error
    except Exception as error:  # third-party parsers fail in ways that no list of types covers
        raise DocumentError(
            "The file is damaged and cannot be read. Open it in the program it comes from and save it again."
        ) from error
    if not document.objects:
        raise DocumentError("The file has no readable content: nothing in it could be indexed.")
    return document
