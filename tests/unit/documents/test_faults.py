"""Bad input ends in a DocumentError that a person understands, and in nothing else (issue 2, faults and bad input)."""

import io
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.documents.samples import SHARED, make_docx, make_pdf, shared_file, shared_files
from werkbank.documents import office_package
from werkbank.documents.extract import extract_document
from werkbank.domain.errors import DocumentError

PDF_TEXT = make_pdf([[(72, 72 + 20 * line, f"Line {line} of some running text.", 11) for line in range(20)]])
PARAGRAPH = "<w:p><w:r><w:t>Guten Tag</w:t></w:r></w:p>"


def refuse(data: bytes, name: str, mime_type: str | None = None) -> str:
    with pytest.raises(DocumentError) as caught:
        extract_document(data, name, mime_type)
    return str(caught.value)


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.txt", "a.csv", "a.html"])
def test_empty_file(name: str) -> None:
    assert "empty" in refuse(b"", name)


def test_whitespace_only_has_no_content() -> None:
    assert "no readable content" in refuse(b" \n\n ", "a.txt")


def test_encrypted_pdf() -> None:
    assert "password" in refuse(shared_file("pdf/libreoffice-writer-password.pdf"), "a.pdf")


def test_encrypted_docx_is_an_ole_file() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 600
    assert "password" in refuse(data, "secret.docx")


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_cut_off_pdf_is_not_half_indexed(share: float) -> None:
    assert "cut off" in refuse(PDF_TEXT[: int(len(PDF_TEXT) * share)], "a.pdf")


def test_pdf_with_a_wrong_cross_reference_is_repaired() -> None:
    broken = PDF_TEXT.replace(b"startxref\n", b"startxref\n9")
    assert "running text" in extract_document(broken, "a.pdf").objects[0].data


def test_pdf_without_pages() -> None:
    data = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"trailer<</Root 1 0 R>>\n%%EOF"
    )
    assert "no pages" in refuse(data, "a.pdf")


@pytest.mark.parametrize("name", ["grayscale-image.pdf", "imagemagick-lzw.pdf", "imagemagick-images.pdf"])
def test_scan_says_that_ocr_is_needed(name: str) -> None:
    assert "OCR" in refuse(shared_file(f"pdf/{name}"), name)


def test_cut_off_docx() -> None:
    data = make_docx(PARAGRAPH * 500)
    assert "cut off or damaged" in refuse(data[: len(data) // 2], "a.docx")


def test_docx_without_its_document() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/styles.xml", "<a/>")
    assert "missing" in refuse(buffer.getvalue(), "a.docx")


def test_docx_bomb_is_stopped_by_the_bytes_really_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("word/document.xml", "w") as part:
        for _ in range(office_package.MAX_PART_BYTES // 2**20 + 2):
            part.write(b" " * 2**20)
    assert len(buffer.getvalue()) < 200_000
    assert "unpacks to more than" in refuse(buffer.getvalue(), "bomb.docx")


def test_docx_with_entities_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(
            "word/document.xml",
            '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><document><body>&a;</body></document>',
        )
    assert "document type" in refuse(buffer.getvalue(), "a.docx")


def test_docx_nested_too_deeply() -> None:
    assert "levels deep" in refuse(make_docx("<w:ins>" * 400 + PARAGRAPH + "</w:ins>" * 400), "a.docx")


@pytest.mark.parametrize("tag", ["<div>", "<font color=1>", "<b>", "<table><tr><td>"])
def test_html_nested_too_deeply(tag: str) -> None:
    assert "nests more than" in refuse(tag.encode() * 200_000, "a.html")


def test_text_that_is_no_text() -> None:
    noise = bytes(random.Random(1).randrange(32) for _ in range(5_000))
    assert "not text" in refuse(noise, "a.txt")


def test_mislabelled_pdf_is_read_as_what_it_is() -> None:
    document = extract_document(PDF_TEXT, "letter.docx", "application/msword")
    assert document.structure.mime_type == "application/pdf"


@pytest.mark.parametrize(
    ("data", "name", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 99, "scan.pdf", "a picture"),
        (b"PK\x05\x06" + b"\0" * 18, "a.zip", "a ZIP archive"),
        (b"\x1f\x8b\x08" + b"\0" * 20, "a.pdf", "a GZIP archive"),
        (b"ID3\x04\0\0" + b"\0" * 600, "a.txt", "a sound recording"),
        (b"{\\rtf1 hello}", "a.docx", "an RTF document"),
        (b"From: a@b.ch\n\nHello", "a.eml", "an e-mail message"),
    ],
)
def test_types_that_cannot_be_read_yet_are_named(data: bytes, name: str, what: str) -> None:
    assert f"is {what}; Werkbank cannot read that yet" in refuse(data, name)


@pytest.mark.parametrize("name", ["pptx/powerpoint_sample.pptx", "xlsx/xlsx_01.xlsx", "email/msg_simple.msg"])
def test_office_types_that_cannot_be_read_yet(name: str) -> None:
    assert "cannot read that yet" in refuse(shared_file(name), name.rpartition("/")[2])


def test_rubbish_named_pdf() -> None:
    assert "named .pdf" in refuse(b"just some words", "a.pdf")


def test_forbidden_characters_reach_no_output() -> None:
    text = "a\0b\x01c\ufeff \ud800 d".encode("utf-8", "surrogatepass")
    for name in ("a.txt", "a.md", "a.csv", "a.html"):
        document = extract_document(b"<p>head</p>\n\nwords, and more words of plain text\n" * 9 + text, name)
        for item in document.objects:
            item.data.encode("utf-8")
            assert not set(item.data) & {"\0", "\x01", "\ufeff"}


@settings(max_examples=150)
@given(data=st.binary(max_size=400), name=st.sampled_from(["a.txt", "a.md", "a.csv", "a.html", "a.pdf", "a.docx", "a"]))
def test_any_bytes_give_a_document_or_a_document_error(data: bytes, name: str) -> None:
    try:
        document = extract_document(data, name)
    except DocumentError:
        return
    for item in document.objects:
        item.data.encode("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["pdf", "docx", "html", "csv"])
def test_damaged_samples_never_crash(folder: str) -> None:
    # In a process of its own: a fault in a C library must fail this test, not end the test run.
    if not SHARED.is_dir():
        pytest.skip(f"test material {SHARED} is absent")
    code = f"from tests.unit.documents.test_faults import damage; damage({folder!r})"
    root = Path(__file__).parents[3]
    outcome = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env={"PYTHONPATH": f"{root}/shared:{root}"},
        capture_output=True,
        timeout=280,
    )
    assert outcome.returncode == 0, outcome.stderr.decode()[-2000:]


def damage(folder: str, rounds: int = 6) -> None:
    """Extract the samples of a folder again and again, cut off or with flipped bytes at random places."""
    for path in shared_files():
        if path.parent.name == folder and path.stat().st_size < 200_000:
            for number in range(rounds):
                _extract_damaged(path, number)


def _extract_damaged(path: Path, number: int) -> None:
    chance = random.Random(f"{path.name} {number}")
    data = bytearray(path.read_bytes())
    if number % 3 == 0:
        del data[chance.randrange(len(data)) :]
    else:
        for _ in range(chance.choice((1, 10, 200))):
            data[chance.randrange(len(data))] = chance.randrange(256)
    try:
        document = extract_document(bytes(data), path.name)
    except DocumentError:
        return
    for item in document.objects:
        assert "\0" not in item.data
        item.data.encode("utf-8")
