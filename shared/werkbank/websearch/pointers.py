"""Which texts point back at something said before (WS-02), by the words of `pointers.toml`.

What a pronoun stands for may be named in the text itself: then it points at nothing before.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from werkbank.websearch.language import fold, function_words, likely_languages

_MAX_CHARACTERS = 400
_MAX_WORDS = 14
_MAX_INCOMPLETE_WORDS = 6
# "Until when exactly?" is incomplete, "When does Lidl close?" is not.
_MAX_WORDS_BEHIND_QUESTION_WORD = 2
_PART = re.compile(r"\w+|(?<=\w)-(?=\w)|[.?!…]|[,;:()–—-]")
_SIGNS = {".": ".", "?": ".", "!": ".", "…": ".", "-": "-"}
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<!\w)[A-Z][A-Z0-9]+(?!\w)")
# French asks "le musée est-il ouvert ?" of what stands before the verb.
_INVERTED = re.compile(r"(?P<subject>[^.,]*?)(?P<verb>\w+(?: - t)?) - (?:il|elle|ils|elles)(?!\w)")
# Where the name must have ended that a place stands for, and that an owner may be; see `joints` for the others.
_PUNCTUATION = re.compile(r"[.,]")
_ANYWHERE = re.compile(r"$")

_Kind = Literal["pronouns", "possessives", "places", "joints", "openings", "questions", "impersonal", "unnamed"]


class _Pointers(BaseModel):
    """A language's words, as `pointers.toml` describes them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    someone: str
    somewhere: str
    pronouns: list[str]
    possessives: list[str]
    places: list[str]
    joints: list[str]
    openings: list[str]
    questions: list[str]
    impersonal: list[str]
    unnamed: list[str]


def points_back(text: str) -> bool:
    """Tell whether a text is short and points at something said before, in any of the five languages."""
    if len(text) > _MAX_CHARACTERS or len(_WORD.findall(text)) > _MAX_WORDS:
        return False
    return any(_points_back(_marked(text, language), language) for language in likely_languages(text))


def filled_in(text: str) -> tuple[str, ...]:
    """Return what a follow-up asks if it means some person and some place, for each language it may be in."""
    return tuple(_filled_in(_marked(text, language), language) for language in likely_languages(text))


def _marked(text: str, language: str) -> str:
    """Return a text's folded words with names in capitals and punctuation by itself, without impersonal phrases."""
    marked: list[str] = []
    for part in _PART.findall(text.lower() if text.isupper() else text):
        if not _WORD.match(part):
            marked.append(_SIGNS.get(part, ","))
        elif part[0].isupper() and marked and marked[-1] != ".":
            marked.append(fold(part, language).upper())
        else:
            marked.append(fold(part, language))
    personal = _pattern(language, "impersonal").sub(" ", " ".join(marked))
    return _INVERTED.sub(lambda asked: _without_subject(asked, language), personal)


def _without_subject(asked: re.Match[str], language: str) -> str:
    """Leave the pronoun of a French question out where its subject stands before the verb."""
    subject = _WORD.findall(_pattern(language, "unnamed").sub(" ", asked["subject"]))
    openings = _pattern(language, "openings")
    is_named = any(word not in function_words(language) and not openings.match(word) for word in subject)
    return f"{asked['subject']}{asked['verb']}" if is_named else asked[0]


def _points_back(words: str, language: str) -> bool:
    return _has_pointer(words, language) or _is_incomplete(words, language)


def _is_incomplete(words: str, language: str) -> bool:
    if question := _pattern(language, "questions").match(words):
        behind = words[question.end() :]
        return len(_WORD.findall(behind)) <= _MAX_WORDS_BEHIND_QUESTION_WORD and not _names(behind, language)
    is_brief = len(_WORD.findall(words)) <= _MAX_INCOMPLETE_WORDS
    return is_brief and _pattern(language, "openings").match(words) is not None


def _has_pointer(words: str, language: str) -> bool:
    """Tell whether something points at what is not named before it, where it may be meant."""
    ends: dict[_Kind, re.Pattern[str]] = {
        "pronouns": _pattern(language, "joints"), "places": _PUNCTUATION, "possessives": _ANYWHERE,
    }  # fmt: skip
    return any(
        not _names(_up_to_last(end, words[: found.start()]), language)
        for kind, end in ends.items()
        for found in _pattern(language, kind).finditer(words)
    )


def _up_to_last(end: re.Pattern[str], words: str) -> str:
    ends = [found.start() for found in end.finditer(words)]
    return words[: ends[-1]] if ends else ""


def _names(words: str, language: str) -> list[str]:
    """Return the names that a pronoun may stand for; words of politeness are none."""
    named = _NAME.findall(_pattern(language, "unnamed").sub(" ", words))
    pronouns = _pattern(language, "pronouns")
    return [name for name in named if name.lower() not in function_words(language) and not pronouns.match(name.lower())]


def _filled_in(words: str, language: str) -> str:
    pointers = _table()[language]
    said = _pattern(language, "pronouns").sub(pointers.someone, words)
    said, places = _pattern(language, "places").subn(" ", said)
    return " ".join([*said.rstrip(" .").split(), *([pointers.somewhere] if places else []), "?"])


@cache
def _table() -> dict[str, _Pointers]:
    text = files("werkbank.websearch").joinpath("pointers.toml").read_text(encoding="utf-8")
    return {language: _Pointers.model_validate(words) for language, words in tomllib.loads(text).items()}


@cache
def _pattern(language: str, kind: _Kind) -> re.Pattern[str]:
    phrases: list[str] = getattr(_table()[language], kind)
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)")
