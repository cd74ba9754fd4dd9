"""The time a call may take in all. An SDK's timeout bounds only the wait for the next piece."""

import time

from werkbank.domain.errors import ProviderUnavailable


class Deadline:
    """A moment after which a call is given up."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise `ProviderUnavailable` once the time is over."""
        if time.monotonic() >= self._end:
            raise ProviderUnavailable("The model did not finish in the time it had.")
