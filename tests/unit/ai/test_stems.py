"""Stems are the same however many threads ask for them: a stemmer keeps the word it works on."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from werkbank.ai.stems import stem_of, stems

WORDS = [
    f"{start}{middle}{end}"
    for start in ("miet", "rechn", "liefer", "zahl", "kündig", "versicher")
    for middle in ("verträg", "fristen", "bedingung", "überweis", "station")
    for end in ("lichkeiten", "ungen", "ations", "ically", "fulness")
]


@pytest.fixture(autouse=True)
def _impatient_threads() -> Iterator[None]:
    """Let threads take turns in the middle of a word."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("stemmed", [stems, stem_of])
def test_threads_get_what_one_alone_gets(stemmed: Callable[[str], object]) -> None:
    alone = [stemmed(word) for word in WORDS]
    stemmed.cache_clear()  # type: ignore[attr-defined]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(stemmed, WORDS)) == alone


def test_one_form_whichever_the_language() -> None:
    assert stem_of("verträge") == stem_of("vertrages")
    assert stem_of("payments") == stem_of("payment")
