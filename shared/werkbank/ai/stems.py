"""Stems of words, German and English."""

from functools import cache, lru_cache
from threading import Lock
from typing import Protocol

# A stemmer keeps the word it works on: two threads at once get nonsense, or an exception.
_ALONE = Lock()


@lru_cache(maxsize=20_000)
def stems(word: str) -> frozenset[str]:
    """Return a word's German and its English stem: its language need not be known."""
    with _ALONE:
        return frozenset(stemmer.stemWord(word) for stemmer in _stemmers())


@lru_cache(maxsize=50_000)
def stem_of(word: str) -> str:
    """Return a word stemmed in both languages, one after the other: one form, whichever its language is."""
    with _ALONE:
        for stemmer in _stemmers():
            word = stemmer.stemWord(word)
    return word


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


@cache
def _stemmers() -> tuple[_Stemmer, ...]:
    import snowballstemmer  # type: ignore[import-untyped]

    return tuple(snowballstemmer.stemmer(language) for language in ("german", "english"))
