"""DO-02 for HTML."""

from werkbank.documents.extract import extract_document
from werkbank.domain.documents import ExtractedDocument


def read(markup: str | bytes) -> ExtractedDocument:
    return extract_document(markup.encode() if isinstance(markup, str) else markup, "a.html")


def text_of(markup: str | bytes) -> str:
    return "\n\n".join(item.data for item in read(markup).objects)


def test_scripts_styles_and_hidden_parts_are_left_out() -> None:
    markup = (
        "<script>var x</script><style>a{}</style><p>Hallo <b>Welt</b></p><div hidden>geheim</div><noscript>n</noscript>"
    )
    assert text_of(markup) == "Hallo Welt"


def test_headings_open_sections() -> None:
    document = read("<title>Seite</title><h1>Eins</h1><p>a</p><h2>Zwei</h2><p>b</p>")
    assert [(section.id, section.title, section.level) for section in document.structure.sections] == [
        ("s1", "Eins", 1),
        ("s2", "Zwei", 2),
    ]
    assert [item.data for item in document.objects] == ["# Eins\n\na", "## Zwei\n\nb"]
    assert document.structure.metadata["title"] == "Seite"


def test_lists_keep_their_nesting_and_numbers() -> None:
    markup = "<ul><li>a<ol start=3><li>b<li>c</ol><li>d</ul><dl><dt>t<dd>e</dl>"
    assert text_of(markup).splitlines() == ["- a", "    3. b", "    4. c", "- d", "- t", "    - e"]


def test_tables_with_spans_read_row_by_row() -> None:
    markup = "<table><tr><th rowspan=2>A<th colspan=2>B<tr><td>x<td><table><tr><td>in<td>ner</table></table>"
    assert text_of(markup) == "| A | B | B |\n| - | - | - |\n| A | x | in ner |"


def test_hostile_spans_stay_bounded() -> None:
    row = f"<tr>{'<td colspan=1000 rowspan=60000>abc</td>' * 50}</tr>"
    assert len(text_of(f"<table>{row * 200}</table>")) < 2_000_000


def test_layout_tables_are_read_as_what_is_in_them() -> None:
    assert text_of("<table><tr><td><h2>Titel</h2><p>Text</p></table>") == "## Titel\n\nText"


def test_tables_deep_in_tables_are_layout_whatever_is_in_them() -> None:
    # else every one would read all that is within it, and a page of 300 kB of them would take seconds
    data, filler = "<table><tr><td>x<td>y</table>", "word " * 500
    for depth, is_table in ((7, True), (8, False)):
        nested = f"<table><tr><td>{filler}<td>" * depth + data + "</table>" * depth
        assert ("| x | y |" in text_of(nested)) == is_table
    apart = f"<table><tr><td>{filler}<td></table>" * 20 + data
    assert "| x | y |" in text_of(apart)


def test_code_keeps_its_lines() -> None:
    assert text_of("<pre>a\n  b<br>c</pre>") == "```\na\n  b\nc\n```"


def test_pictures_and_links() -> None:
    document = read('<p>Siehe <a href="/x">hier</a> <img src="data:image/png;base64,AAAA" alt="Plan" width="9"></p>')
    assert document.objects[0].data == "Siehe hier"
    assert document.objects[1].ref.label == "Plan"
    assert document.objects[1].metadata == {"source": "embedded", "width": "9", "height": None}


def test_declared_encoding_is_used() -> None:
    assert text_of('<meta charset="windows-1251"><p>Привет'.encode("windows-1251")) == "Привет"
