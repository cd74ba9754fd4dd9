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

        return telling(random.choice, tell, lambda: self._languages.texts(run), lambda: self._languages.learn(run))


@contextmanager
def telling(
    choose: Choose,
    tell: Callable[[Filler], None],
    texts: Callable[[], FillerTexts],
    learn: Callable[[], None],
) -> Iterator[None]:
    """Tell what is due while the block runs; no telling begins after it has ended, and no fault of telling gets out.

    The opening waits for nothing: better phrases are learnt behind it, for what is told next. The block's end waits
    for nothing either: what is on its way then may come late, and the page leaves it out once the answer has begun.
    """
    over = threading.Event()

    def run() -> None:
        schedule = FillerSchedule(choose)
        while not over.wait(schedule.wait_seconds(monotonic())):
            if filler := schedule.due(monotonic(), texts()):
                _told(tell, filler)
                if filler.kind == "opening":
                    learn()

    threading.Thread(target=run, name="fillers", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _told(tell: Callable[[Filler], None], filler: Filler) -> None:
    try:
        tell(filler)
    except Exception as error:  # a filler is never worth a failure
        logger.warning("filler could not be told", extra={"error": type(error).__name__})
