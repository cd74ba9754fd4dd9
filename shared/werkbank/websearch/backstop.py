"""Which questions are searched whatever the model thinks (WS-03).

A model that answers from memory is confidently wrong about the present: who holds an office, where or whether somebody
lives, opening hours, timetables. Rules for all languages (`backstop.toml`) say which kinds of words together make such
a question; `languages/*.toml` say which words those are. Statements do not count, nor questions about the past, the
future, what holds in general, stories, and the user's own files and people, nor requests to write or translate.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from werkbank.websearch.language import fold, likely_languages, read_language, without_accents

Topic = Literal["office", "residence", "life", "hours", "timetable"]
Rules = Mapping[Topic, Sequence[str]]

# A longer prompt brings its own material along: what is asked there is asked about that.
_MAX_CHARACTERS = 600
# A few words may well be in another language than they seem: "udo jürgens tot".
_FEW_WORDS = 5
_SENTENCE = re.compile(r"((?:[^?!\n.…]|[.…](?!\s)|(?<![^\W\d_]{3})(?<!\s[a-zà-ÿ]{2})[.…])+)(\??)")
# What stands in quotation marks is talked about, not asked; short quotes are names.
_QUOTED = re.compile(r"(?<=\S)\s*[\"„“«][^\"„“”«»]{20,}[\"“”»]")
_RULING_OUT = {"own", "task", "background", "reason", "not_asked", "past", "present"}
_SLOT = re.compile(r"\{([a-z_]+)\}")


class _Words(BaseModel):
    """Kinds of words by name: regular expressions over folded text, in which `{name}` stands for another kind."""

    model_config = ConfigDict(extra="ignore")

    words: dict[str, list[str]]


class _Shared(_Words):
    """The rules, and the words that go for every language."""

    rules: dict[Topic, list[str]]
    despite_past: dict[Topic, list[str]]


@dataclass(frozen=True, slots=True)
class _Language:
    """A language's kinds of words."""

    code: str
    kinds: Mapping[str, re.Pattern[str]]

    def has(self, kind: str, folded: str) -> bool:
        """Tell whether a folded text has a word of a kind."""
        return self.kinds[kind].search(folded) is not None

    def without(self, kind: str, folded: str) -> str:
        """Return a folded text without what is of a kind."""
        return self.kinds[kind].sub("", folded).strip()

    def follows(self, rule: str, folded: str) -> bool:
        """Tell whether a folded sentence has every kind that a rule names, and none that it names with `!`."""
        return all(self.has(kind.removeprefix("!"), folded) != kind.startswith("!") for kind in rule.split())


def should_force_search(text: str) -> bool:
    """Tell whether a text asks for something that only a search can answer rightly."""
    return forced_topic(text) is not None


def forced_topic(text: str) -> Topic | None:
    """Return what a text asks for that only a search can answer rightly, else None; all five languages count."""
    if len(text) > _MAX_CHARACTERS:
        return None
    asked = _QUOTED.sub(" ", text)
    margin = 1 if len(asked.split()) <= _FEW_WORDS else 0
    return next(filter(None, (_topic_in(asked, _language(code)) for code in likely_languages(asked, margin))), None)


def _topic_in(text: str, language: _Language) -> Topic | None:
    """Judge each sentence of a text, then the last with all before it: "I missed the bus. When is the next one?"."""
    folded = (f"{fold(sentence, language.code)} {mark}".strip() for sentence, mark in _SENTENCE.findall(text))
    sentences = list(filter(None, (language.without("reason", sentence) for sentence in folded)))
    wanted = " ".join(sentence for sentence in sentences if not language.has("background", sentence))
    if language.has("own", " ".join(sentences)) or language.has("task", wanted):
        return None
    alone = (_topic(sentence, sentence, language) for sentence in sentences)
    together = (_topic(" ".join(sentences), last, language) for last in sentences[1:][-1:])
    return next(filter(None, (*alone, *together)), None)


def _topic(words: str, question: str, language: _Language) -> Topic | None:
    """Return what folded words ask for, None if nothing that has to be searched; the question tells the tense."""
    shared = _shared()
    if language.has("not_asked", question):
        return None
    past = language.has("past", question) and not language.has("present", question)
    rules: Rules = shared.despite_past if past else shared.rules
    return next((topic for topic, some in rules.items() if any(language.follows(rule, words) for rule in some)), None)


@cache
def _shared() -> _Shared:
    text = files("werkbank.websearch").joinpath("backstop.toml").read_text(encoding="utf-8")
    return _Shared.model_validate(tomllib.loads(text))


@cache
def _language(code: str) -> _Language:
    shared, own = _shared().words, _Words.model_validate(read_language(code)).words
    words = {name: "|".join(own.get(name, []) + shared.get(name, [])) for name in shared.keys() | own.keys()}
    return _Language(code, {kind: _pattern(without_accents(_fill(words[kind], words), code)) for kind in _kinds()})


def _kinds() -> set[str]:
    """Return the kinds of words that are looked for; the others only stand in lists of other kinds."""
    shared = _shared()
    rules = [rule for some in (*shared.rules.values(), *shared.despite_past.values()) for rule in some]
    return _RULING_OUT.union(kind.removeprefix("!") for rule in rules for kind in rule.split())


def _pattern(alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)")


def _fill(template: str, words: Mapping[str, str]) -> str:
    """Put the lists in, and the lists that lists name."""
    while _SLOT.search(template):
        template = _SLOT.sub(lambda slot: f"(?:{words[slot[1]]})", template)
    return template
