"""Which sources an answer cites."""

import re
from collections.abc import Sequence

from werkbank.domain.runs import Citation

_MARK = re.compile(r"\[(\d{1,4})\]")


def cited(text: str, sources: Sequence[Citation]) -> tuple[Citation, ...]:
    """Return the sources that a text cites as `[n]`, in the order of their numbers; invented numbers are ignored."""
    numbers = {int(number) for number in _MARK.findall(text)}
    return tuple(source for source in sources if source.number in numbers)
