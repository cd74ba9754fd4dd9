"""DO-02 for Word: everything a reader sees, in its order."""

from tests.unit.documents.samples import make_docx, shared_file
from werkbank.documents.docx_styles import format_number
from werkbank.documents.extract import extract_document
from werkbank.domain.documents import ExtractedDocument

STYLES = (
    '<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="Kapitel"/><w:basedOn w:val="H1"/></w:style></w:styles>'
)
NUMBERING = (
    '<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/>'
    '<w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/>'
    '<w:lvlText w:val="%1.%2)"/></w:lvl>'
    '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
)


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def item(text: str, level: int) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>')


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def read(body: str, **parts: str) -> ExtractedDocument:
    return extract_document(make_docx(body, **parts), "a.docx")


def text_of(document: ExtractedDocument) -> str:
    return "\n".join(one.data for one in document.objects)


def test_headings_by_inherited_style_open_sections() -> None:
    document = read(paragraph("Zweck", '<w:pStyle w:val="Mine"/>') + paragraph("Text"), styles=STYLES)
    assert [(section.title, section.level) for section in document.structure.sections] == [("Zweck", 1)]
    assert document.objects[0].data == "# Zweck\n\nText"
    assert document.objects[0].ref.section_id == "s1"


def test_lists_are_numbered_as_word_shows_them() -> None:
    text = text_of(
        read(item("eins", 0) + item("a", 1) + item("b", 1) + item("zwei", 0) + item("c", 1), numbering=NUMBERING)
    )
    assert [line.strip() for line in text.splitlines()] == ["I. eins", "I.a) a", "I.b) b", "II. zwei", "II.a) c"]


def test_list_numbers_beyond_the_alphabet() -> None:
    assert [format_number(number, "lowerLetter") for number in (1, 26, 27)] == ["a", "z", "aa"]
    assert format_number(1994, "upperRoman") == "MCMXCIV"


def test_merged_cells_and_nested_tables() -> None:
    inner = "<w:tbl><w:tr>" + cell(paragraph("innen")) + cell(paragraph("auch")) + "</w:tr></w:tbl>"
    rows = (
        "<w:tr>" + cell(paragraph("Kopf"), '<w:gridSpan w:val="2"/>') + "</w:tr>"
        "<w:tr>" + cell(paragraph("A"), '<w:vMerge w:val="restart"/>') + cell(paragraph("1|2")) + "</w:tr>"
        "<w:tr>" + cell(paragraph(""), "<w:vMerge/>") + cell(inner) + "</w:tr>"
    )
    document = read(paragraph("davor") + f"<w:tbl>{rows}</w:tbl>" + paragraph("danach"))
    assert document.objects[1].data == "| Kopf | Kopf |\n| - | - |\n| A | 1\\|2 |\n| A | innen auch |"
    assert [one.data for one in document.objects if one.metadata.get("kind") != "table"] == ["davor", "danach"]


def test_revisions_fields_and_footnotes() -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>weg</w:delText></w:r></w:del><w:ins><w:r><w:t>da</w:t></w:r></w:ins>"
        '<w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    )
    notes = f'<w:footnotes><w:footnote w:id="2">{paragraph("Die Quelle")}</w:footnote></w:footnotes>'
    assert text_of(read(body, footnotes=notes)) == "da [^1]\n\n[^1] Die Quelle"


def test_page_header_once() -> None:
    document = read(paragraph("Text"), header1=f"<w:hdr>{paragraph('Muster AG')}</w:hdr>")
    assert [(one.data, one.ref.label) for one in document.objects] == [("Muster AG", "header"), ("Text", None)]


def test_strict_files_read_like_others() -> None:
    for name in ("Strict.docx", "Transitional.docx"):
        assert text_of(extract_document(shared_file(f"docx/{name}"), name)).strip() == "Some text"


def test_equations_are_latex() -> None:
    text = text_of(extract_document(shared_file("docx/equations.docx"), "a.docx"))
    assert "$a^{2}+b^{2}=c^{2}$" in text
    assert "\\sum_{n=1}^{" in text


def test_pictures_are_objects_without_data() -> None:
    document = extract_document(shared_file("docx/docx_grouped_images.docx"), "a.docx")
    pictures = [one for one in document.objects if one.content_type == "image"]
    assert len(pictures) == 6
    assert all(one.data == "" and one.metadata["width"] for one in pictures)
