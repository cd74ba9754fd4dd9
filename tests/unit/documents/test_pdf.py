"""DO-02 and DO-03 for PDF: reading order, sections, page numbers, whole words."""

from collections.abc import Sequence

from tests.unit.documents.samples import Place, make_pdf, shared_file
from werkbank.documents.extract import extract_document
from werkbank.domain.documents import ExtractedDocument

LINE = "of a text that runs on and on"


def read(pages: Sequence[Sequence[Place]]) -> ExtractedDocument:
    return extract_document(make_pdf(pages), "a.pdf")


def text_of(document: ExtractedDocument) -> str:
    return "\n".join(item.data for item in document.objects)


def test_columns_are_read_one_after_the_other_whatever_the_file_order() -> None:
    left: list[Place] = [(60, 150 + 14 * row, f"left{row} {LINE}", 10) for row in range(12)]
    right: list[Place] = [(320, 150 + 14 * row, f"right{row} {LINE}", 10) for row in range(12)]
    across: list[Place] = [(60.0, 100.0, "A long heading that runs across both of the columns below", 18.0)]
    by_rows = [place for pair in zip(left, right, strict=True) for place in pair]
    words = [
        word for word in text_of(read([across + by_rows])).split() if word.startswith(("left", "right", "heading"))
    ]
    assert words == ["heading", *[f"left{row}" for row in range(12)], *[f"right{row}" for row in range(12)]]


def test_cells_of_a_table_are_not_columns() -> None:
    rows = [
        (x, 100 + 30 * row, f"{name}{row}", 10) for row in range(8) for x, name in ((60, "a"), (250, "b"), (420, "c"))
    ]
    assert text_of(read([rows])).split() == [f"{name}{row}" for row in range(8) for name in "abc"]


def test_divided_words_are_whole_again() -> None:
    lines = [
        "Die Versicherungs-", "gesellschaft zahlt bei Haupt-", "und Nebenleistungen in Baden-",
        "Württemberg, wenn die wohl-", "überlegte Frist gilt. Sie gilt.",
    ]  # fmt: skip
    text = text_of(read([[(72, 100 + 13 * row, line, 11) for row, line in enumerate(lines)]]))
    assert "Die Versicherungsgesellschaft zahlt bei Haupt- und Nebenleistungen in Baden-Württemberg" in " ".join(
        text.split()
    )
    assert "wohlüberlegte" in text


def test_a_hyphen_that_the_document_writes_elsewhere_stays() -> None:
    lines = ["All self-locking nuts are safe. A self-", "locking nut is used for parts that must not turn."]
    assert "A self-locking nut" in text_of(read([[(72, 100 + 13 * row, line, 11) for row, line in enumerate(lines)]]))


def test_repeated_heads_and_page_numbers_are_left_out() -> None:
    pages = [
        [
            (72.0, 40.0, "Jahresbericht 2024", 9.0),
            (72.0, 400.0, f"Inhalt {name}, ganz ohne Titel", 9.0),
            (300.0, 820.0, f"{page}", 9.0),
        ]
        for page, name in enumerate(("eins", "zwei", "drei", "vier"), 1)
    ]
    document = read(pages)
    assert [item.data for item in document.objects] == [
        f"Inhalt {name}, ganz ohne Titel" for name in ("eins", "zwei", "drei", "vier")
    ]
    assert [item.ref.page_index for item in document.objects] == [1, 2, 3, 4]


def test_headings_by_font_size_become_sections() -> None:
    body: list[Place] = [(72.0, 200.0 + 14 * row, f"Satz {row} {LINE}.", 11.0) for row in range(10)]
    pages = [[(72.0, 100.0, "Erstes Kapitel", 20.0), (72.0, 150.0, "Ein Abschnitt", 15.0), *body], body]
    structure = read([*pages, [(72.0, 150.0, "Zweites Kapitel", 20.0), *body]]).structure
    found = [(section.title, section.level, section.start_page, section.end_page) for section in structure.sections]
    assert found == [("Erstes Kapitel", 1, 1, 2), ("Ein Abschnitt", 2, 1, 2), ("Zweites Kapitel", 1, 3, 3)]
    assert structure.pages[0].headings == ("Erstes Kapitel", "Ein Abschnitt")


def test_outline_of_a_real_book() -> None:
    document = extract_document(shared_file("pdf/GeoTopo-komprimiert.pdf"), "GeoTopo.pdf")
    structure = document.structure
    section = next(section for section in structure.sections if section.title == "1.2 Metrische Räume")
    assert (section.start_page, section.end_page, structure.page_count) == (10, 12, 117)
    passage = next(item for item in document.objects if "heißt ein metrischer Raum" in item.data)
    assert (passage.ref.page_index, passage.ref.section_id) == (10, section.id)
    assert passage.ref.describe() == "GeoTopo.pdf, page 10"
    assert sum(len(page.images) for page in structure.pages) == sum(
        item.content_type == "image" for item in document.objects
    )


def test_attachments_are_named() -> None:
    document = extract_document(shared_file("pdf/with-attachment.pdf"), "a.pdf")
    assert document.structure.metadata["attachments"] == ["image.png"]
