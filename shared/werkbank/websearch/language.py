"""The five languages of questions: their words and phrases are data (`languages/*.toml`)."""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files

LANGUAGES = ("de", "en", "fr", "it", "nl")

_NOT_A_WORD = re.compile(r"[\W_]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


@cache
def read_language(language: str) -> dict[str, object]:
    """Return everything that is kept for a language."""
    text = files("werkbank.websearch").joinpath(f"languages/{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def primary_language(tag: str) -> str:
    """Return the language of a BCP 47 tag without region and script: `de` of `de-CH`."""
    return tag.partition("-")[0].lower()


def fold(text: str, language: str) -> str:
    """Return the words of a text without case, accents and punctuation, one space between them.

    German umlauts are spelt out, as many people do anyway; without them "würde" would be the past tense "wurde".
    """
    return _NOT_A_WORD.sub(" ", without_accents(text, language)).strip()


def without_accents(text: str, language: str) -> str:
    """Return a text in small letters without accents, all else as it was."""
    small = unicodedata.normalize("NFKC", text.casefold())
    spelt = small.translate(_UMLAUTS) if language == "de" else small
    return "".join(letter for letter in unicodedata.normalize("NFKD", spelt) if not unicodedata.combining(letter))


def likely_languages(text: str, margin: int = 0) -> tuple[str, ...]:
    """Return the language that most of a text's function words belong to; several when they have equally many.

    With a margin, those too that have only so many fewer; it is for keywords, of which hardly one tells its language.
    """
    counts = {
        language: sum(word in function_words(language) for word in fold(text, language).split())
        for language in LANGUAGES
    }
    most = max(counts.values())
    return tuple(language for language, count in counts.items() if count >= most - (margin if most <= margin else 0))


@cache
def function_words(language: str) -> frozenset[str]:
    return frozenset(without_accents(str(read_language(language)["function_words"]), language).split())
