"""What a file really is: its first bytes decide, its name only tells kinds of text apart."""

import io
import re
import zipfile
from pathlib import PurePosixPath

from werkbank.domain.errors import DocumentError

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ZIP = "application/zip"
HTML = "text/html"
PLAIN = "text/plain"
MARKDOWN = "text/markdown"
CSV = "text/csv"
TSV = "text/tab-separated-values"
JSON = "application/json"
XML = "application/xml"
MAIL = "message/rfc822"
OLE = "application/x-ole-storage"
ENCRYPTED_OFFICE = "application/x-encrypted-office"

# How a person calls a type that has no extractor yet.
NAMES = {
    PPTX: "a PowerPoint presentation",
    XLSX: "an Excel workbook",
    ZIP: "a ZIP archive",
    OLE: "a file of an old Office or Outlook format (.doc, .xls, .ppt, .msg)",
    MAIL: "an e-mail message",
    "application/gzip": "a GZIP archive",
    "application/x-7z-compressed": "a 7z archive",
    "application/x-rar": "a RAR archive",
    "application/x-tar": "a TAR archive",
    "application/epub+zip": "an EPUB book",
    "application/vnd.oasis.opendocument.text": "an OpenDocument text",
    "application/vnd.oasis.opendocument.spreadsheet": "an OpenDocument spreadsheet",
    "application/vnd.oasis.opendocument.presentation": "an OpenDocument presentation",
    "application/rtf": "an RTF document",
    "application/postscript": "a PostScript file",
    "application/x-executable": "a program",
    "application/x-sqlite3": "a database",
    "image/*": "a picture",
    "audio/*": "a sound recording",
    "video/*": "a video",
}
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/x-matroska"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/x-rar"),
    (b"{\\rtf", "application/rtf"),
    (b"%!PS", "application/postscript"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/x-executable"),
    (b"SQLite format 3\x00", "application/x-sqlite3"),
)
_BINARY_ONLY = (b"BM", b"MZ", b"ID3")  # texts may begin with these letters
_BY_SUFFIX = {
    ".md": MARKDOWN, ".markdown": MARKDOWN, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".html": HTML, ".htm": HTML,
    ".xhtml": HTML, ".json": JSON, ".jsonl": JSON, ".xml": XML, ".eml": MAIL, ".txt": PLAIN, ".log": PLAIN,
}  # fmt: skip
_TEXT_TYPES = frozenset(_BY_SUFFIX.values())
_DOCUMENT_SUFFIXES = frozenset({".pdf", ".docx", ".doc", ".pptx", ".xlsx", ".odt", ".zip", ""})
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]", re.I | re.S
)


def detect_mime_type(data: bytes, file_name: str, declared: str | None = None) -> str:
    """Return the type that `data` has, whatever `file_name` and the `declared` type say.

    Raises DocumentError when the file is empty.
    """
    if not data:
        raise DocumentError("The file is empty (0 bytes). Check that the upload was complete and send it again.")
    return _binary_type(data) or _text_type(data, file_name, declared)


def describe_type(mime_type: str) -> str:
    """Say what a person would call a file of this type."""
    family = mime_type.partition("/")[0] + "/*"
    return NAMES.get(mime_type) or NAMES.get(family) or f"a file of type {mime_type}"


def _binary_type(data: bytes) -> str | None:
    if b"%PDF-" in data[:1024]:  # ISO 32000 readers accept rubbish before the header within the first kilobyte
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zip_type(data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return ENCRYPTED_OFFICE if "EncryptedPackage".encode("utf-16-le") in data else OLE
    if data[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(data[8:12], "video/x-msvideo")
    if data[4:8] == b"ftyp":
        return "image/heic" if data[8:11] in (b"hei", b"mif", b"avi") else "video/mp4"
    if data[257:262] == b"ustar":
        return "application/x-tar"
    for magic, mime_type in _MAGIC:
        if data.startswith(magic) and (magic not in _BINARY_ONLY or b"\x00" in data[:512]):
            return mime_type
    return None


def _zip_type(data: bytes) -> str:
    """Tell Office files from archives by the names in the ZIP directory; a cut-off one by the names still in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        names = [name.decode("latin-1") for name in re.findall(rb"(?:word|ppt|xl)/[a-z]+", data[:200_000])]
    for folder, mime_type in (("word/", DOCX), ("ppt/", PPTX), ("xl/", XLSX)):
        if any(name.startswith(folder) for name in names):
            return mime_type
    if "mimetype" in names and (match := re.search(rb"mimetype(application/[\w.+-]+)", data[:200])):
        return match[1].decode("ascii")
    return ZIP


def _text_type(data: bytes, file_name: str, declared: str | None) -> str:
    suffix = PurePosixPath(file_name.lower()).suffix
    by_name = _BY_SUFFIX.get(suffix)
    if by_name is None and _HTML_START.match(data[:4096].removeprefix(b"\xef\xbb\xbf")):
        return HTML
    if by_name:
        return by_name
    plain_declared = (declared or "").partition(";")[0].strip().lower()
    if plain_declared in _TEXT_TYPES and suffix not in _DOCUMENT_SUFFIXES - {""}:
        return plain_declared
    if b"\x00" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentError(
            f"The content of “{file_name}” is in no format Werkbank knows; the file may be damaged or mislabelled."
        )
    if suffix in _DOCUMENT_SUFFIXES - {""}:
        raise DocumentError(
            f"“{file_name}” is named {suffix}, but its content is not that: the file is damaged or mislabelled. "
            "Open it in the program it comes from and save it again."
        )
    return PLAIN
