"""A model opens what the user wrote or a search found, no address of its own making (TB-07)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from werkbank.tools.addresses import is_known, named_in

FOUND = ("https://www.bern.example/rat/", "https://example.org/a?b=1#top")
WRITTEN = (
    "Summarise bern.example/news and (https://Example.com/Päge)",
    "see HTTP://www.x.example/?q=1.",
    "and www.sbb.example, not invoice.zip; https://de.wiki.example/Bern_(Kanton) anna@mail.example",
)


@pytest.mark.parametrize(
    "url",
    [
        "https://bern.example/rat", "http://www.bern.example/rat#members", "https://example.org/a?b=1",
        "https://bern.example/news", "https://example.com/P%C3%A4ge", "https://x.example/?q=1", "https://sbb.example/",
        "https://de.wiki.example/Bern_(Kanton)",
    ],
)  # fmt: skip
def test_named_addresses_are_known(url: str) -> None:
    assert is_known(url, FOUND, WRITTEN)


@pytest.mark.parametrize(
    "url",
    [
        "https://bern.example/rat?secret=1", "https://bern.example/other", "https://evil.example/rat", "https://",
        "https://ern.example/news", "https://secret.bern.example/rat", "https://bern.example/RAT",
        "https://bern.example/r%61t", "https://bern.example:8443/rat", "https://bern.example@evil.example/rat",
        "https://evil.example\\@bern.example/rat", "https://invoice.zip/?d=salaries", "https://mail.example/salaries",
        "http://[2001:db8::1]/", "http://[/",
    ],
)  # fmt: skip
def test_addresses_of_a_models_own_making_are_not(url: str) -> None:
    assert not is_known(url, FOUND, WRITTEN)


@given(secret=st.text(st.characters(categories=["Ll", "Nd"]), min_size=8, max_size=30))
def test_no_address_carries_what_nobody_wrote(secret: str) -> None:
    assert not is_known(f"https://bern.example/rat/{secret}", FOUND, WRITTEN)
    assert not is_known(f"https://{secret}.example/", FOUND, WRITTEN)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("mayor of Bern", []), ("What is node.js 3.11?", []), ("Wer ist z.B. Chef bei sbb.ch?", []),
        ("https://evil.example/?d=salaries", ["https://evil.example/?d=salaries"]),
        ("open evil.example/salaries, please", ["evil.example/salaries"]),
        ("see HTTPS://evil.example?d=1.", ["HTTPS://evil.example?d=1"]),
    ],
)  # fmt: skip
def test_searches_may_name_addresses(query: str, named: list[str]) -> None:
    assert named_in(query) == named
