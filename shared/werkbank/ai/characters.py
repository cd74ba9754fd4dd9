"""Characters that a stream has cut in two, as servers do whose strings are UTF-16 (AI-06)."""

from collections.abc import Iterable, Iterator

from werkbank.ai.protocols import Delta, TextDelta
from werkbank.domain.characters import storable


def whole_characters(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Pass deltas on with text that can be shown and stored; the first half of a character waits for the second."""
    held = ""
    for delta in deltas:
        if isinstance(delta, TextDelta):
            text = held + delta.text
            held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
            if ready := storable(text.removesuffix(held)):
                yield TextDelta(ready)
            continue
        if held:
            yield TextDelta(storable(held))
            held = ""
        yield delta
    if held:
        yield TextDelta(storable(held))
