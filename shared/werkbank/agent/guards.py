"""Notices a run that goes round in circles (AG-09)."""

import json
from collections.abc import Sequence
from difflib import SequenceMatcher

from werkbank.domain.trace import ToolCallLog

# The third like call in a row is one too many; two may be an honest second try.
REPEATED_CALLS = 3
# Shorter texts ("Let me look.") are said again in good faith.
_SHORTEST_ANSWER = 40
_LIKENESS = 0.9


def is_stalled(texts: Sequence[str], calls: Sequence[ToolCallLog]) -> bool:
    """Tell whether the last rounds only repeat: the same tool with like arguments, or the same words.

    `texts` are what the model said in this run, `calls` (at least) its last `REPEATED_CALLS` tool calls, both in order.
    """
    return _repeats_calls(calls) or _repeats_words(texts)


def _repeats_calls(calls: Sequence[ToolCallLog]) -> bool:
    last = calls[-REPEATED_CALLS:]
    # Calls of one round were asked for together, before any result: that is breadth, not repetition.
    if len(last) < REPEATED_CALLS or len({call.round for call in last}) < REPEATED_CALLS:
        return False
    return all(call.name == last[-1].name and are_alike(call.arguments, last[-1].arguments) for call in last[:-1])


def are_alike(first: str, second: str) -> bool:
    """Tell whether two arguments (JSON texts, valid or not) ask for nearly the same; other numbers are another ask."""
    one, other = _normal(first), _normal(second)
    if one == other:
        return True
    if [c for c in one if c.isdigit()] != [c for c in other if c.isdigit()]:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= _LIKENESS


def _normal(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, ensure_ascii=False).casefold()
    except ValueError:
        return " ".join(arguments.split()).casefold()


def _repeats_words(texts: Sequence[str]) -> bool:
    *earlier, last = [" ".join(text.split()).casefold() for text in texts] or [""]
    return len(last) >= _SHORTEST_ANSWER and last in earlier
