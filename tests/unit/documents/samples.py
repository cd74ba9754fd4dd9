"""Small documents made on the spot, and the shared material when it is there."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3].parent / "shared" / "data"

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DOCUMENT = f'<?xml version="1.0"?><w:document xmlns:w="{_W}"><w:body>%s</w:body></w:document>'


def shared_file(name: str) -> bytes:
    """Return a file of ../shared/data; skips the test where the material is absent."""
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"test material {path} is absent")
    return path.read_bytes()


def shared_files() -> list[Path]:
    """Return every sample document, empty where the material is absent."""
    folders = ("pdf", "docx", "html", "csv", "pptx", "xlsx", "email")
    return sorted(path for folder in folders for path in (SHARED / folder).glob("*") if path.is_file())


def make_docx(body: str, **parts: str) -> bytes:
    """Return a Word file with this body XML; `parts` are further files of its `word` folder."""
    buffer = io.BytesIO()
    kinds = {"styles": "styles", "numbering": "numbering", "footnotes": "footnotes", "header1": "header"}
    relations = "".join(f'<Relationship Id="r{name}" Type="x/{kinds[name]}" Target="{name}.xml"/>' for name in parts)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", _DOCUMENT % body)
        archive.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}'
            "</Relationships>",
        )
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", content.replace(">", f' xmlns:w="{_W}">', 1))
    return buffer.getvalue()


Place = tuple[float, float, str, float]


def make_pdf(pages: Sequence[Sequence[Place]]) -> bytes:
    """Return an A4 PDF; each page is a list of (x, y, text, size) in points."""
    import pymupdf

    document = pymupdf.open()  # type: ignore[no-untyped-call]
    for texts in pages:
        page = document.new_page()
        for x, y, text, size in texts:
            page.insert_text((x, y), text, fontsize=size)
    return bytes(document.tobytes())  # type: ignore[no-untyped-call]
