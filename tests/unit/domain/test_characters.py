"""Text that can be kept: everything else stays as it is."""

from hypothesis import given
from hypothesis import strategies as st

from werkbank.domain.characters import storable


def test_what_cannot_be_kept_goes() -> None:
    assert storable("a\x00b") == "ab"
    assert storable("half \ud83d") == "half \ufffd"
    assert storable("\ud83d\ude00 whole") == "\U0001f600 whole"


@given(st.text(st.characters(blacklist_categories=[], blacklist_characters="\x00")))
def test_it_can_always_be_encoded_and_all_else_stays(text: str) -> None:
    kept = storable(text)
    kept.encode()
    assert storable(kept) == kept
    assert kept == text or any("\ud800" <= character <= "\udfff" for character in text)
