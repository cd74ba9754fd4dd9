"""Entities are found by rule, in German and English, without a model (AG-22)."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from werkbank.knowledge.entities import find_entities

TEXT = """\
[1] vertrag.pdf, page 2
Die Acme Handels AG und die Müller & Söhne GmbH zahlen CHF 12'500.00 bzw. 1.2 Mio. EUR am 31.03.2027.
Invoice of Beta Ltd. over $1,250.50, due March 3, 2026 (2026-03-03), contact: info@beta.example.
IBAN CH93 0076 2011 6238 5295 7, UID CHE-123.456.789 MWST, VAT DE123456789, Frist 3. Mai 2026, 50 Franken, £20"""


def found(text: str, kind: str) -> list[str]:
    return [entity.text for entity in find_entities(text) if entity.kind == kind]


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("company", ["Acme Handels AG", "Müller & Söhne GmbH", "Beta Ltd."]),
        ("amount", ["CHF 12'500.00", "1.2 Mio. EUR", "$1,250.50", "50 Franken", "£20"]),
        ("date", ["31.03.2027", "March 3, 2026", "2026-03-03", "3. Mai 2026"]),
        ("iban", ["CH93 0076 2011 6238 5295 7"]),
        ("taxId", ["CHE-123.456.789 MWST", "DE123456789"]),
        ("email", ["info@beta.example"]),
    ],
)
def test_every_kind_is_found_as_it_stands(kind: str, texts: list[str]) -> None:
    assert found(TEXT, kind) == texts


@pytest.mark.parametrize(
    "text",
    [
        "Die AG", "Version 3.14.15.92", "am 45.13.2026", "IBAN CH93 0076 2011 6238 5295 8", "2026-13-45", "a@b",
        "192.168.10.20", "the AGM of 2026", "ISBN 978-3-16-148410-0", "Absatz 3 und 4", "DE12345",
    ],
)  # fmt: skip
def test_lookalikes_are_left_alone(text: str) -> None:
    assert find_entities(text) == ()


def test_excerpt_is_the_line_and_short() -> None:
    (entity,) = find_entities("Other line\nDie Miete beträgt CHF 1'200 pro Monat\nNext line")
    assert entity.excerpt == "Die Miete beträgt CHF 1'200 pro Monat"
    (entity,) = find_entities("x " * 500 + "CHF 1'200" + " y" * 500)
    assert "CHF 1'200" in entity.excerpt
    assert len(entity.excerpt) <= 160


AMOUNTS = st.integers(1, 999_999_999)


@given(AMOUNTS, st.sampled_from(["CHF {}", "EUR {}", "€ {}", "{} Franken", "{} EUR"]), st.sampled_from("’',."))
def test_amounts_with_any_thousands_separator_are_found_whole(amount: int, form: str, separator: str) -> None:
    written = form.format(f"{amount:,}".replace(",", separator))
    assert found(f"Es kostet {written}; mehr nicht", "amount") == [written]


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_dates_are_found_whole(day: date) -> None:
    for form in ("%d.%m.%Y", "%Y-%m-%d"):
        written = format(day, form)
        assert found(f"am {written}, oder", "date") == [written]


@given(st.text(max_size=2_000))
def test_whatever_is_found_stands_in_the_text(text: str) -> None:
    for entity in find_entities(text):
        assert entity.text in " ".join(text.split())
        assert "\n" not in entity.excerpt
