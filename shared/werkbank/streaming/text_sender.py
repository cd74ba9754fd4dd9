"""Sends a model's text in pieces, off the thread that reads the model.

The first piece leaves at once; what comes while a piece is under way or within the interval is put together, so that a
fast model stays under the gateway's rate and frame limits (EV-03).
"""

from threading import Condition, Thread
from types import TracebackType
from typing import Self

from werkbank.streaming.run_stream import RunStream

# API Gateway's pushes share 10,000 requests a second per account: 20 a second is what one fluent answer needs.
INTERVAL_SECONDS = 0.05
# A frame holds 32 kB; a piece is sent early at 1 kB, and none is ever longer than this many characters.
FLUSH_CHARACTERS = 1_000
MAX_CHARACTERS = 6_000


class TextSender:
    """Emits `chunk` events of one attempt at one round.

    Use as a context manager: leaving it sends what is left. A failure of the sending thread (RunOver when the run was
    stopped, a database fault) is raised by the next `add` or on leaving. `is_used` tells whether there was any text.
    """

    def __init__(self, stream: RunStream, round: int, attempt: int) -> None:
        self._stream = stream
        self._labels: dict[str, int] = {"round": round, "attempt": attempt}
        self._waiting = Condition()
        self._text = ""
        self.is_used = False
        self._closed = False
        self._failure: Exception | None = None
        self._thread = Thread(target=self._send_until_closed, name="text-sender", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._waiting:
            self._closed = True
            self._waiting.notify()
        self._thread.join()
        if error is None:
            self._raise_failure()

    def add(self, text: str) -> None:
        """Take a piece of text. Raises what sending has failed with, such as RunOver."""
        self._raise_failure()
        self.is_used = True
        with self._waiting:
            self._text += text
            self._waiting.notify()

    def _raise_failure(self) -> None:
        if self._failure:
            raise self._failure

    def _send_until_closed(self) -> None:
        try:
            self._stream.expect()  # while the model thinks
            while piece := self._next_piece():
                self._stream.emit("chunk", {**self._labels, "text": piece})
                self._gather()
        except Exception as failure:  # raised again on the thread that reads the model
            self._failure = failure

    def _next_piece(self) -> str:
        with self._waiting:
            self._waiting.wait_for(lambda: self._text or self._closed)
            piece, self._text = self._text[:MAX_CHARACTERS], self._text[MAX_CHARACTERS:]
            return piece

    def _gather(self) -> None:
        with self._waiting:
            self._waiting.wait_for(
                lambda: self._closed or len(self._text) >= FLUSH_CHARACTERS, timeout=INTERVAL_SECONDS
            )
