"""What follows a failed call, by the class of its error (AG-11). The only place that asks a provider again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from werkbank.ai.model import Model
from werkbank.domain.errors import (
    EmptyAnswer,
    IncompleteStream,
    ModelNotFound,
    PromptTooLong,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    RetryableProviderError,
)
from werkbank.observability import count

# A provider that asks for more patience than this is better left for another.
LONGEST_WAIT_SECONDS = 60.0
_WAIT_WHEN_UNTOLD_SECONDS = 5.0
_WAIT_AFTER_FAULT_SECONDS = 2.0
# Before the second and the third time that APIs behind tools are asked.
_BACKOFF_SECONDS = (1.0, 2.0)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Recovery:
    """How one call to a model recovers from faults.

    `wait_seconds` says how long to wait before the one more try with the same model (None: there is none),
    `may_fall_back` whether the next model may be asked; `pause` waits.
    """

    wait_seconds: Callable[[ProviderError], float | None]
    may_fall_back: Callable[[ProviderError], bool]
    pause: Callable[[float], None]

    def first_answer(self, candidates: Sequence[Model], ask: Callable[[Model], T]) -> T:
        """Return the first candidate's answer. Raises what `ask` raises; of several faults the last one's."""
        *others, last = candidates
        for model in others:
            try:
                return self.with_one_retry(model, ask)
            except ProviderError as error:
                if not self.may_fall_back(error):
                    raise
                count("ModelFallback")
        return self.with_one_retry(last, ask)

    def with_one_retry(self, model: Model, ask: Callable[[Model], T]) -> T:
        """Return the model's answer, asking again once after a fault that may pass."""
        try:
            return ask(model)
        except ProviderError as error:
            seconds = self.wait_seconds(error)
            if seconds is None:
                raise
            self.pause(seconds)
        return ask(model)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How one call to APIs behind tools recovers: who answers matters little, so the next is asked at once.

    Those whose faults may pass are asked three times at most, after waits that double. `has_time` tells whether there
    is time for another try after so many seconds; `pause` waits.
    """

    has_time: Callable[[float], bool]
    pause: Callable[[float], None]

    def first_answer(
        self,
        candidates: Sequence[Model],
        ask: Callable[[Model, int], T],
        waits_seconds: Sequence[float] = _BACKOFF_SECONDS,
    ) -> T:
        """Return the first answer. `ask` gets the candidate and how many are still to be asked, with it.

        Raises what `ask` raises; of several faults the last one's.
        """
        faults: list[tuple[Model, ProviderError]] = []
        for position, model in enumerate(candidates):
            if faults:
                count("ModelFallback")
            try:
                return ask(model, len(candidates) - position)
            except ProviderError as error:
                faults.append((model, error))
            if not self.has_time(0):
                break
        passing = [(model, fault) for model, fault in faults if isinstance(fault, RetryableProviderError)]
        asked_for = min((_asked_wait_seconds(fault) for _, fault in passing), default=None)
        if asked_for is None or not waits_seconds or not self.has_time(max(asked_for, waits_seconds[0])):
            raise faults[-1][1]
        self.pause(max(asked_for, waits_seconds[0]))
        return self.first_answer([model for model, _ in passing], ask, waits_seconds[1:])


def wait_before_retry(error: ProviderError) -> float | None:
    """Return the seconds to wait before the one more try with the same model; None: there is none."""
    match error:
        case RateLimited(retry_after_seconds=None):
            return _WAIT_WHEN_UNTOLD_SECONDS
        case RateLimited(retry_after_seconds=float() | int() as seconds):
            return max(0.0, float(seconds)) if seconds <= LONGEST_WAIT_SECONDS else None
        case ProviderUnavailable() | IncompleteStream() | EmptyAnswer():
            return _WAIT_AFTER_FAULT_SECONDS
        case _:
            return None


def may_fall_back(error: ProviderError) -> bool:
    """Tell whether another model may succeed where this one failed; credentials are for the user to mend."""
    return isinstance(error, RetryableProviderError | ModelNotFound | PromptTooLong)


def _asked_wait_seconds(error: ProviderError) -> float:
    asked = error.retry_after_seconds if isinstance(error, RateLimited) else None
    return asked or 0.0
