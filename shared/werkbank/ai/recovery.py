"""What follows a failed model call, by the class of its error (AG-11)."""

from werkbank.domain.errors import (
    IncompleteStream,
    ModelNotFound,
    PromptTooLong,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    RetryableProviderError,
)

# A provider that asks for more patience than this is better left for another.
LONGEST_WAIT_SECONDS = 60.0
_WAIT_WHEN_UNTOLD_SECONDS = 5.0
_WAIT_AFTER_FAULT_SECONDS = 2.0


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
