"""Names that may have been meant by one that does not exist (AG-10)."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

# Far beyond any name of ours: comparing takes the square of the length.
_MAX_CHARACTERS = 80
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return at most three of the known names, the likeliest first: in any order and spelling of a name's words."""
    likeness = {other: _likeness(name[:_MAX_CHARACTERS], other) for other in known}
    return sorted(filter(likeness.__getitem__, likeness), key=lambda other: -likeness[other])[:3]


def _likeness(one: str, other: str) -> float:
    """Return 0 for names that have too little in common, else up to 2."""
    words, others = _words(one), _words(other)
    shared = sum(bool(get_close_matches(word, others, 1, cutoff=0.8)) for word in words)
    by_words = 2 * shared / max(1, len(words) + len(others))
    by_letters = SequenceMatcher(None, one.lower(), other.lower()).ratio()
    return by_words + by_letters if by_words >= 0.5 or by_letters >= 0.7 else 0.0


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
