"""Notices a run that goes round in circles, or whose calls keep being cut off (AG-09).

What may be repeated in good faith goes on: the next page of a file, the next part of a report, a second look at what
may have changed, the same reads once more after their results were summed up.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from werkbank.domain.trace import ToolCallLog

# What is looked at: enough for a circle of ten calls.
LATEST_CALLS = 30
# The third like call in a row is one too many; two may be an honest second try.
_ROUNDS_ALIKE = 3
# Like calls of one round were asked for before any result: that may be a hiccup, but not without end.
_CALLS_ALIKE = 6
# Nobody gives a whole answer twice; an introductory sentence ("I read on.") may go with several steps of honest work.
_SHORTEST_ANSWER = 200
_ROUNDS_OF_SAME_WORDS = 6
# A model is told twice that its call was cut off.
_ROUNDS_CUT_OFF = 2

# In a long text, one word in so many may be another.
_WORDS_PER_CHANGE = 20
_ENDING = re.compile(r"(?<=[^\W\d_]{4})(?:e?[sn]|e)$")
_NUMBER = re.compile(r"\d+")
_PUNCTUATION = "\"'`“”„«»‘’()[]{}<>,.:;!?"

# A run repeats itself, or what it asks for is too long to arrive whole.
Stall = Literal["circle", "cutOff"]


@dataclass(frozen=True, slots=True)
class _Ask:
    """What a call asks for: by argument, its words without their endings; then all numbers in their order."""

    round: int
    name: str
    words: dict[str, Counter[str]]
    numbers: tuple[str, ...]

    def is_like(self, other: "_Ask") -> bool:
        return self.numbers == other.numbers and self.differs_in_numbers_at_most(other)

    def differs_in_numbers_at_most(self, other: "_Ask") -> bool:
        if (self.name, self.words.keys()) != (other.name, other.words.keys()):
            return False
        return all(_has_the_words_of(words, other.words[argument]) for argument, words in self.words.items())


def stall_of(texts: Sequence[str], calls: Sequence[ToolCallLog]) -> Stall | None:
    """Tell why a run gets nowhere, from what its model said in each round and its last calls; None while it may go on.

    `calls` are (at least) the last `LATEST_CALLS`; both in order. Takes time linear in their lengths.
    """
    latest = calls[-LATEST_CALLS:]
    if _are_cut_off(latest):
        return "cutOff"
    return "circle" if _repeat_each_other(latest) or _is_said_again(texts, latest) else None


def are_alike(first: str, second: str) -> bool:
    """Tell whether two arguments (JSON texts, valid or not) ask for the same.

    They do with the same words in whatever order, case and ending; a few in a long text aside, as when the same file is
    written again. Other numbers are another ask.
    """
    return _ask(first).is_like(_ask(second))


def _ask(arguments: str, name: str = "", round: int = 0) -> _Ask:
    texts = _texts(arguments)
    numbers = tuple(number for argument in sorted(texts) for number in _NUMBER.findall(texts[argument]))
    return _Ask(round, name, {argument: _words(text) for argument, text in texts.items()}, numbers)


def _ask_of(call: ToolCallLog) -> _Ask:
    return _ask(call.arguments, call.name, call.round)


def _texts(arguments: str) -> dict[str, str]:
    try:
        values = json.loads(arguments.strip() or "{}")
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        return {"": arguments}
    return {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
        for name, value in values.items()
    }


def _words(text: str) -> Counter[str]:
    words = (_ENDING.sub("", word.strip(_PUNCTUATION)) for word in _NUMBER.sub("", text.casefold()).split())
    return Counter(filter(None, words))


def _has_the_words_of(one: Counter[str], other: Counter[str]) -> bool:
    return max((one - other).total(), (other - one).total()) <= one.total() // _WORDS_PER_CHANGE


def _repeat_each_other(calls: Sequence[ToolCallLog]) -> bool:
    """Tell whether the last calls asked for each of a few things again and again, whatever their order."""
    things: list[_Ask] = []
    rounds: set[tuple[int, int]] = set()
    for count, ask in enumerate(map(_ask_of, reversed(calls)), 1):
        known = next((place for place, thing in enumerate(things) if ask.is_like(thing)), len(things))
        things[known:] = things[known:] or [ask]
        rounds.add((ask.round, known))
        if len(rounds) >= _ROUNDS_ALIKE * len(things) or count >= _CALLS_ALIKE * len(things):
            return True
        if _ROUNDS_ALIKE * len(things) > len(calls):
            return False
    return False


def _is_said_again(texts: Sequence[str], calls: Sequence[ToolCallLog]) -> bool:
    said = [" ".join(text.split()).casefold() for text in texts]
    if said and len(said[-1]) >= _SHORTEST_ANSWER and said[-1] in said[:-1]:
        return True
    last = said[-_ROUNDS_OF_SAME_WORDS:]
    is_same = len(last) == _ROUNDS_OF_SAME_WORDS and len(set(last)) == 1 and last[0] != ""
    return is_same and not _reads_on(calls)


def _reads_on(calls: Sequence[ToolCallLog]) -> bool:
    """Tell whether the last calls differ in numbers: the next lines, the next page."""
    asks = [_ask_of(call) for call in calls[-2:]]
    return len(asks) > 1 and asks[0].numbers != asks[1].numbers and asks[0].differs_in_numbers_at_most(asks[1])


def _are_cut_off(calls: Sequence[ToolCallLog]) -> bool:
    """Tell whether nothing that the last rounds asked for arrived whole."""
    rounds = [list(group) for _, group in groupby(calls, key=lambda call: call.round)][-_ROUNDS_CUT_OFF:]
    return len(rounds) == _ROUNDS_CUT_OFF and all(_is_cut_off(call.arguments) for calls in rounds for call in calls)


def _is_cut_off(arguments: str) -> bool:
    """Tell whether a JSON text ends in the middle; one that is wrong in another way reaches its end."""
    text = arguments.strip()
    try:
        json.loads(text or "{}")
    except ValueError:
        return not text.endswith("}")
    except RecursionError:
        return True
    return False
