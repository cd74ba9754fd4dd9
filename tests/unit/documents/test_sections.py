"""DO-04: sections and selections of a document that is already extracted."""

import pytest

from werkbank.documents.extract import extract_document
from werkbank.documents.sections import find_section, outline, section_ids_within, select_objects
from werkbank.domain.documents import DocumentStructure, Section
from werkbank.domain.errors import NotFound

MARKUP = "<h1>A</h1><p>a</p><h2>B</h2><p>b<img src=x></p><h3>C</h3><p>c</p><h2>D</h2><p>d</p><h1>E</h1><p>e</p>"
DOCUMENT = extract_document(MARKUP.encode(), "a.html")


def texts(section_id: str) -> list[str]:
    found = select_objects(DOCUMENT.objects, DOCUMENT.structure, section_id=section_id, content_types={"text"})
    return [item.data.rsplit("\n", 1)[-1] for item in found]


def test_a_section_includes_its_subsections() -> None:
    assert texts("s1") == ["a", "b", "c", "d"]
    assert texts("s2") == ["b", "c"]
    assert section_ids_within(DOCUMENT.structure, "s2") == {"s2", "s3"}


def test_a_section_is_also_found_by_its_title() -> None:
    assert find_section(DOCUMENT.structure, " d ").id == "s4"


def test_an_unknown_section_is_not_found() -> None:
    with pytest.raises(NotFound, match="s99"):
        select_objects(DOCUMENT.objects, DOCUMENT.structure, section_id="s99")


def test_content_types_and_pages_are_selected() -> None:
    assert len(select_objects(DOCUMENT.objects, DOCUMENT.structure, content_types={"image"})) == 1
    assert select_objects(DOCUMENT.objects, DOCUMENT.structure, pages=(1,)) == ()


def test_outline_says_what_is_where() -> None:
    sections = (
        Section(id="s1", title="Zweck", level=1, start_page=1, end_page=3),
        Section(id="s2", title="Ziel", level=2),
    )
    structure = DocumentStructure(mime_type="application/pdf", page_count=9, sections=sections)
    assert outline(structure, "a.pdf").splitlines() == [
        "a.pdf (application/pdf, 9 pages, 2 sections)",
        "  [s1] Zweck (p. 1–3)",
        "    [s2] Ziel",
    ]


@pytest.mark.parametrize("levels", [1, 3])
def test_outline_is_bounded(levels: int) -> None:
    sections = tuple(Section(id=f"s{n}", title="Titel " * 9, level=1 + n % levels) for n in range(3_000))
    text = outline(DocumentStructure(mime_type="application/pdf", sections=sections), "a.pdf", 2_000)
    assert len(text) <= 2_000
    assert "more sections" in text
