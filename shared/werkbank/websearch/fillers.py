"""What is told while a search takes its time (WS-05): something at once, then patience at intervals.

Fillers are told and forgotten: they are no part of the conversation.
"""

from collections.abc import Callable, Sequence
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
    """Phrases per language: those kept with the patterns, any other translated once from English and remembered."""

    def __init__(self, translate: Translate) -> None:
        self._translate = translate
        self._known = {language: _kept(language) for language in LANGUAGES}

    def texts(self, run: Run) -> FillerTexts:
        """Return the phrases in a run's language (BCP 47), in English if they cannot be translated now."""
        primary = primary_language(run.language)
        if primary not in self._known:
            translated = self._translated(run, primary)
            if translated is None:
                return self._known[_MASTER]
            self._known[primary] = translated
        return self._known[primary]

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

    def __init__(self, texts: FillerTexts, choose: Choose, interval_seconds: float = PATIENCE_SECONDS) -> None:
        self._texts = texts
        self._choose = choose
        self._interval_seconds = max(PATIENCE_SECONDS, interval_seconds)
        self._last_at: float | None = None
        self._last_text = ""

    def due(self, now: float) -> Filler | None:
        """Return what is to be told now: an opening the first time, then patience when the interval has passed."""
        if self.wait_seconds(now) > 0:
            return None
        kind: Literal["opening", "patience"] = "opening" if self._last_at is None else "patience"
        pool = self._texts.opening if kind == "opening" else self._texts.patience
        fresh = [text for text in pool if text != self._last_text] or list(pool)
        self._last_at, self._last_text = now, self._choose(fresh)
        return Filler(self._last_text, kind)

    def wait_seconds(self, now: float) -> float:
        """Return how long nothing is due."""
        return 0.0 if self._last_at is None else max(0.0, self._last_at + self._interval_seconds - now)


def _kept(language: str) -> FillerTexts:
    return _Table.model_validate(read_language(language)).fillers
