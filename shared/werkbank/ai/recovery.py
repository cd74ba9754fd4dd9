"""What follows a failed model call, by the class of its error (AG-11). The only place that tries anything again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from werkbank.ai.model import Model
from werkbank.domain.errors import (
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

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Recovery:
    """How one call recovers from faults.

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


def wait_before_retry(error: ProviderError) -> float | None:
    """Return the seconds to wait before the one more try with the same model; None: there is none."""
    match error:
        case RateLimited(retry_after_seconds=None):
            return _WAIT_WHEN_UNTOLD_SECONDS
        case RateLimited(retry_after_seconds=float() | int() as seconds):
            return max(0.0, float(seconds)) if seconds <= LONGEST_WAIT_SECONDS else None
        case ProviderUnavailable() | IncompleteStream():
            return _WAIT_AFTER_FAULT_SECONDS
        case _:
            return None


def may_fall_back(error: ProviderError) -> bool:
    """Tell whether another model may succeed where this one failed; credentials are for the user to mend."""
    return isinstance(error, RetryableProviderError | ModelNotFound | PromptTooLong)
