"""Tells fillers while a search runs (WS-05), beside it, so that nothing waits for them."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic

from werkbank.domain.runs import Run, RunRef
from werkbank.observability import logger
from werkbank.streaming.run_stream import RunStreams
from werkbank.websearch.fillers import Choose, Filler, FillerLanguages, FillerSchedule, FillerTexts


class Fillers:
    """Tells the person whose run is searching. Pushed only: no log and no conversation ever holds a filler."""

    def __init__(self, streams: RunStreams, languages: FillerLanguages) -> None:
        self._streams = streams
        self._languages = languages

    def __call__(self, run: Run) -> AbstractContextManager[None]:
        """Return a block around a run's search."""
        stream = self._streams.of(RunRef(run_id=run.id, mandate_id=run.mandate_id, user_id=run.user_id))

        def tell(filler: Filler) -> None:
            stream.mention("filler", {"text": filler.text, "kind": filler.kind})

        return telling(lambda: self._languages.texts(run), random.choice, tell)


@contextmanager
def telling(texts: Callable[[], FillerTexts], choose: Choose, tell: Callable[[Filler], None]) -> Iterator[None]:
    """Tell what is due while the block runs; nothing is told after it has ended, and no fault of telling gets out.

    The phrases are asked for on the thread that tells: they may have to be translated first.
    """
    over, turn = threading.Event(), threading.Lock()

    def run() -> None:
        schedule = FillerSchedule(texts(), choose)
        while not over.wait(schedule.wait_seconds(monotonic())):
            with turn:
                if not over.is_set() and (filler := schedule.due(monotonic())):
                    _told(tell, filler)

    threading.Thread(target=run, name="fillers", daemon=True).start()
    try:
        yield
    finally:
        with turn:
            over.set()


def _told(tell: Callable[[Filler], None], filler: Filler) -> None:
    try:
        tell(filler)
    except Exception as error:  # a filler is never worth a failure
        logger.warning("filler could not be told", extra={"error": type(error).__name__})
