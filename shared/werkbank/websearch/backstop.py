"""Which questions are searched whatever the model thinks (WS-03).

A model that answers from memory is confidently wrong about the present: who holds an office, where or whether somebody
lives, opening hours, timetables. Patterns per language (`languages/*.toml`) find such questions; questions about the
past, about the user's own files, and requests to write or translate do not count.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from werkbank.websearch.language import fold, likely_languages, read_language, without_accents

Topic = Literal["office", "residence", "life", "hours", "timetable"]

# A longer prompt brings its own material along: what is asked there is asked about that.
_MAX_CHARACTERS = 600
_SENTENCE_END = re.compile(r"[?!\n]+|(?<=[^\W\d_]{3})[.…]+\s")
# What stands in quotation marks is talked about, not asked; short quotes are names.
_QUOTED = re.compile(r"(?<=\S)\s*[\"„“«][^\"„“”«»]{15,}[\"“”»]")
_SLOT = re.compile(r"\{([a-z_]+)\}")


class _Guards(BaseModel):
    """What rules a search out: `past` within its sentence, `own` and `task` for the whole text."""

    model_config = ConfigDict(extra="forbid")

    past: list[str]
    own: list[str]
    task: list[str]


class _Table(BaseModel):
    """A language's patterns: regular expressions over folded text, in which `{name}` stands for a list of `words`.

    `ask` are phrases in their order; `together` are things that ask by standing in one sentence, in any order.
    """

    model_config = ConfigDict(extra="ignore")

    words: dict[str, list[str]]
    ask: dict[Topic, list[str]]
    ask_despite_past: dict[Topic, list[str]]
    together: dict[Topic, list[list[str]]]
    guards: _Guards


@dataclass(frozen=True, slots=True)
class _Patterns:
    language: str
    ask: Mapping[Topic, re.Pattern[str]]
    ask_despite_past: Mapping[Topic, re.Pattern[str]]
    together: Mapping[Topic, Sequence[Sequence[re.Pattern[str]]]]
    past: re.Pattern[str]
    foreign: re.Pattern[str]

    def topic(self, sentence: str) -> Topic | None:
        """Return what a folded sentence asks for, None if nothing that has to be searched."""
        found = _first(self.ask_despite_past, sentence)
        if found or self.past.search(sentence):
            return found
        return _first(self.ask, sentence) or self._together(sentence)

    def _together(self, sentence: str) -> Topic | None:
        for topic, rules in self.together.items():
            if any(all(part.search(sentence) for part in rule) for rule in rules):
                return topic
        return None


def should_force_search(text: str) -> bool:
    """Tell whether a text asks for something that only a search can answer rightly."""
    return forced_topic(text) is not None


def forced_topic(text: str) -> Topic | None:
    """Return what a text asks for that only a search can answer rightly, else None; all five languages count."""
    if len(text) > _MAX_CHARACTERS:
        return None
    asked = _QUOTED.sub(" ", text)
    for patterns in map(_patterns, likely_languages(text)):
        if patterns.foreign.search(fold(asked, patterns.language)):
            continue
        for sentence in _SENTENCE_END.split(asked):
            topic = patterns.topic(fold(sentence, patterns.language))
            if topic:
                return topic
    return None


@cache
def _patterns(language: str) -> _Patterns:
    table = _Table.model_validate(read_language(language))
    words = {name: "|".join(alternatives) for name, alternatives in table.words.items()}

    @cache
    def part(template: str) -> re.Pattern[str]:
        return pattern([template])

    def pattern(alternatives: Iterable[str]) -> re.Pattern[str]:
        filled = _fill("|".join(f"(?:{alternative})" for alternative in alternatives), words)
        return re.compile(rf"(?<!\w)(?:{without_accents(filled, language)})(?!\w)")

    return _Patterns(
        language=language,
        ask={topic: pattern(table.ask[topic]) for topic in get_args(Topic)},
        ask_despite_past={topic: pattern(found) for topic, found in table.ask_despite_past.items()},
        together={topic: [[part(each) for each in rule] for rule in rules] for topic, rules in table.together.items()},
        past=pattern(table.guards.past),
        foreign=pattern([*table.guards.own, *table.guards.task]),
    )


def _fill(template: str, words: Mapping[str, str]) -> str:
    """Put the lists in, and the lists that lists name."""
    while _SLOT.search(template):
        template = _SLOT.sub(lambda slot: f"(?:{words[slot[1]]})", template)
    return template


def _first(patterns: Mapping[Topic, re.Pattern[str]], sentence: str) -> Topic | None:
    return next((topic for topic, pattern in patterns.items() if pattern.search(sentence)), None)
