"""DO-02 for TXT, MD and CSV, and the encodings they come in."""

import pytest

from tests.unit.documents.samples import shared_file
from werkbank.documents.extract import extract_document

UMLAUTS = "Größe, Maß und Übung für Zürich: «Ja» – 5 €"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_encodings(encoding: str) -> None:
    assert extract_document(UMLAUTS.encode(encoding), "a.txt").objects[0].data == UMLAUTS


def test_utf8_with_a_damaged_byte_stays_utf8() -> None:
    data = (UMLAUTS * 5).encode() + b"\xff"
    assert UMLAUTS in extract_document(data, "a.txt").objects[0].data


def test_other_scripts_are_guessed() -> None:
    text = "Это обычный русский текст, который написан достаточно длинным, чтобы его узнать. " * 4
    assert extract_document(text.encode("cp1251"), "a.txt").objects[0].data.strip() == text.strip()


def test_plain_text_names_its_lines() -> None:
    text = "\n\n".join(f"Absatz {number}. " + "Wort " * 100 for number in range(20))
    objects = extract_document(text.encode(), "a.txt").objects
    assert len(objects) > 3
    assert objects[0].ref.label == "lines 1–8"
    assert "\n\n".join(item.data.strip("\n") for item in objects).split() == text.split()


def test_markdown_headings_become_sections_but_not_in_code() -> None:
    text = "Vorwort\n\n# Eins\nText\n```\n# kein Titel\n```\nZwei\n----\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    document = extract_document(text.encode(), "a.md")
    assert [(section.title, section.level) for section in document.structure.sections] == [("Eins", 1), ("Zwei", 2)]
    assert [item.ref.section_id for item in document.objects] == [None, "s1", "s2", "s2"]
    assert document.objects[-1].metadata == {"kind": "table"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiters_and_quotes(delimiter: str) -> None:
    rows = [["Name", "Betrag"], ["Meier; Söhne, AG\t|", "1'200"], ["Zeile\nzwei", 'sagt "ja"']]
    text = "\n".join(delimiter.join('"' + field.replace('"', '""') + '"' for field in row) for row in rows)
    document = extract_document(text.encode(), "a.csv")
    assert document.structure.metadata == {"rows": 3, "columns": 2, "delimiter": delimiter}
    assert document.objects[0].data.splitlines()[2] == "| Meier; Söhne, AG \\| | 1'200 |"
    assert document.objects[0].data.splitlines()[3] == '| Zeile zwei | sagt "ja" |'


def test_csv_rows_are_cited_and_ragged_rows_padded() -> None:
    text = "a;b\n" + "".join(f"{number};x;extra\n" for number in range(250))
    objects = extract_document(text.encode(), "a.csv").objects
    assert [item.ref.label for item in objects] == ["rows 2–101", "rows 102–201", "rows 202–251"]
    assert all(item.data.startswith("| a | b |  |\n") for item in objects)


def test_decimal_commas_do_not_look_like_delimiters() -> None:
    document = extract_document(b"Posten;Preis\nBrot;3,50\nMilch;1,80\nKaese;12,00", "a.csv")
    assert document.structure.metadata["delimiter"] == ";"


def test_comma_in_a_cell() -> None:
    document = extract_document(shared_file("csv/csv-comma-in-cell.csv"), "a.csv")
    assert "| a | , | c | d |" in document.objects[0].data


def test_a_quote_that_is_never_closed_loses_nothing() -> None:
    text = '"x,y\n' + "a,b\n" * 60_000
    document = extract_document(text.encode(), "a.csv")
    assert document.structure.metadata["rows"] == 60_001
