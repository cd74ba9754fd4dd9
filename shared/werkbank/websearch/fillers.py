"""What is told while a search takes its time (WS-05): something at once, patience at intervals, silence once the answer
begins. Fillers are told and forgotten: they are no part of the conversation.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from pydantic import BaseModel, ConfigDict

from werkbank.observability import logger
from werkbank.websearch.language import LANGUAGES, read_language
from werkbank.websearch.protocols import Translate

PATIENCE_SECONDS = 10.0
_MASTER = "en"

Choose = Callable[[Sequence[str]], str]
"""Picks one of several phrases: `random.choice`."""


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

    def texts(self, language: str) -> FillerTexts:
        """Return the phrases in a language (BCP 47), in English if they cannot be translated now."""
        primary = language.partition("-")[0].lower()
        if primary not in self._known:
            translated = self._translated(primary)
            if translated is None:
                return self._known[_MASTER]
            self._known[primary] = translated
        return self._known[primary]

    def _translated(self, language: str) -> FillerTexts | None:
        master = self._known[_MASTER]
        phrases = [*master.opening, *master.patience]
        try:
            translated = [phrase.strip() for phrase in self._translate(phrases, language)]
        except Exception as error:  # a filler is never worth a failure
            logger.warning(
                "fillers could not be translated", extra={"language": language, "error": type(error).__name__}
            )
            return None
        if len(translated) != len(phrases) or not all(translated):
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
        self._is_over = False

    def due(self, now: float) -> str | None:
        """Return what is to be told now: an opening the first time, then patience when the interval has passed."""
        if self._is_over or (self._last_at is not None and now - self._last_at < self._interval_seconds):
            return None
        pool = self._texts.opening if self._last_at is None else self._texts.patience
        fresh = [text for text in pool if text != self._last_text] or list(pool)
        self._last_at, self._last_text = now, self._choose(fresh)
        return self._last_text

    def wait_seconds(self, now: float) -> float | None:
        """Return how long nothing is due; None once nothing ever is."""
        if self._is_over:
            return None
        return 0.0 if self._last_at is None else max(0.0, self._last_at + self._interval_seconds - now)

    def answer_began(self) -> None:
        """End it: whatever was due is not told any more."""
        self._is_over = True


@contextmanager
def telling(schedule: FillerSchedule, tell: Callable[[str], None]) -> Iterator[None]:
    """Tell what is due while the block runs; nothing is told after it has ended, and no fault of telling gets out."""
    over = threading.Event()
    turn = threading.Lock()

    def tell_due() -> None:
        with turn:
            text = schedule.due(monotonic())
            if text is not None:
                _told(tell, text)

    def run() -> None:
        while (wait := schedule.wait_seconds(monotonic())) is not None and not over.wait(wait):
            tell_due()

    tell_due()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        with turn:
            schedule.answer_began()
        over.set()


def _told(tell: Callable[[str], None], text: str) -> None:
    try:
        tell(text)
    except Exception as error:  # a filler is never worth a failure
        logger.warning("filler could not be told", extra={"error": type(error).__name__})


def _kept(language: str) -> FillerTexts:
    return _Table.model_validate(read_language(language)).fillers
