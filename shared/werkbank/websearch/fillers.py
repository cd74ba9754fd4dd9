"""What is told while a search takes its time (WS-05): something at once, then patience at intervals.

Fillers are told and forgotten: they are no part of the conversation.
"""

import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from werkbank.domain.runs import Run
from werkbank.observability import logger
from werkbank.websearch.language import LANGUAGES, primary_language, read_language
from werkbank.websearch.protocols import Translate

PATIENCE_SECONDS = 10.0
_MASTER = "en"
_MAX_CHARACTERS = 200

Choose = Callable[[Sequence[str]], str]
"""Picks one of several phrases: `random.choice`."""


class Filler(NamedTuple):
    """One thing to tell."""

    text: str
    kind: Literal["opening", "patience"]


class FillerTexts(BaseModel):
    """The phrases of one language."""

    model_config = ConfigDict(frozen=True)

    opening: tuple[str, ...]
    patience: tuple[str, ...]


class _Table(BaseModel):
    model_config = ConfigDict(extra="ignore")

    fillers: FillerTexts


class FillerLanguages:
    """Phrases per language: the shipped ones, any other translated from English once per container."""

    def __init__(self, translate: Translate) -> None:
        self._translate = translate
        self._known = dict(_shipped())

    def texts(self, run: Run) -> FillerTexts:
        """Return the phrases in a run's language (BCP 47), in English as long as there is no translation."""
        return self._known.get(primary_language(run.language), self._known[_MASTER])

    def learn(self, run: Run) -> None:
        """Have the phrases translated into a run's language unless they are known; takes the time of a model call."""
        language = primary_language(run.language)
        if language not in self._known and (translated := self._translated(run, language)):
            self._known[language] = translated

    def _translated(self, run: Run, language: str) -> FillerTexts | None:
        master = self._known[_MASTER]
        phrases = [*master.opening, *master.patience]
        try:
            translated = [phrase.strip() for phrase in self._translate(run, phrases, language)]
        except Exception as error:  # a filler is never worth a failure
            logger.warning(
                "fillers could not be translated", extra={"language": language, "error": type(error).__name__}
            )
            return None
        if len(translated) != len(phrases) or not all(0 < len(phrase) <= _MAX_CHARACTERS for phrase in translated):
            return None
        split = len(master.opening)
        return FillerTexts(opening=tuple(translated[:split]), patience=tuple(translated[split:]))


class FillerSchedule:
    """Says what is to be told when. Pure: it is told the time (seconds of any steady clock) and how to choose."""

    def __init__(self, choose: Choose, interval_seconds: float = PATIENCE_SECONDS) -> None:
        self._choose = choose
        self._interval_seconds = max(PATIENCE_SECONDS, interval_seconds)
        self._last_at: float | None = None
        self._last_text = ""

    def due(self, now: float, texts: FillerTexts) -> Filler | None:
        """Return what is to be told now: an opening the first time, then patience when the interval has passed."""
        if self.wait_seconds(now) > 0:
            return None
        kind: Literal["opening", "patience"] = "opening" if self._last_at is None else "patience"
        pool = texts.opening if kind == "opening" else texts.patience
        fresh = [text for text in pool if text != self._last_text] or list(pool)
        self._last_at, self._last_text = now, self._choose(fresh)
        return Filler(self._last_text, kind)

    def wait_seconds(self, now: float) -> float:
        """Return how long nothing is due."""
        return 0.0 if self._last_at is None else max(0.0, self._last_at + self._interval_seconds - now)


@cache
def _shipped() -> dict[str, FillerTexts]:
    """Return the phrases of the languages that questions are judged in, and of others."""
    judged = {language: _Table.model_validate(read_language(language)).fillers for language in LANGUAGES}
    others = tomllib.loads(files("werkbank.websearch").joinpath("fillers.toml").read_text(encoding="utf-8"))
    return {language: FillerTexts.model_validate(texts) for language, texts in others.items()} | judged
