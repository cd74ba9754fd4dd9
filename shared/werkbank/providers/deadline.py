"""The time a call may take in all.

An SDK's timeout bounds only the wait for the next bytes, and a provider may send keep-alives for ever that the SDK does
not even show. So the stream is closed from outside when the time is over.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from werkbank.domain.errors import ProviderUnavailable

# The longest a stream may be silent. Providers that think for minutes say so in between; one that says nothing for
# longer is given up while there is time for another try.
STALL_SECONDS = 240.0


class _Stream(Protocol):
    def close(self) -> None: ...


class Deadline:
    """A moment after which a call is given up."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def remaining(self) -> float:
        """The seconds left, none when the time is over."""
        return max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Tell whether the time is over."""
        return time.monotonic() >= self._end

    def check(self) -> None:
        """Raise `ProviderUnavailable` once the time is over."""
        if self.is_over:
            raise ProviderUnavailable("The model did not finish in the time it had.")

    @contextmanager
    def enforced_on(self, stream: _Stream) -> Iterator[None]:
        """Close the stream when the time is over, whatever its reader is waiting for."""
        timer = threading.Timer(self.remaining, stream.close)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
