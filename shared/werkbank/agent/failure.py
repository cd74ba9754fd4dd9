"""What a failed run says to its user: the error's own words where they were written for a person."""

from werkbank.agent.conclusion import Ending
from werkbank.domain import errors
from werkbank.domain.failure import Failure, error_type, message_of

_TITLES: dict[str, str] = {
    "BudgetExceeded": "The budget is used up",
    "RateLimited": "The model provider is overloaded",
    "ProviderUnavailable": "The model provider cannot be reached",
    "DeadlineTooNear": "The model did not answer in time",
    "IncompleteStream": "The model's answer was cut off",
    "EmptyAnswer": "The model gave no answer",
    "ProviderRefused": "The model provider refused the call",
    "ModelNotFound": "The model does not exist",
    "PromptTooLong": "The conversation is too long for the model",
    "ToolsUnsupported": "The model cannot use tools",
    "ThinkingRefused": "The model does not take back what it thought",
    "AnswerDeclined": "The model declined to answer",
    "RequestRejected": "The model provider rejected the request",
    "StorageUnavailable": "The database cannot be reached",
}
# The whole execution, not one state: what the state machine allows at most, waiting included.
_EXECUTION_TIMED_OUT = "States.TIMED_OUT"
_UNEXPECTED = "Something failed inside Werkbank. Your conversation is kept; please ask again."


def ending_of(failure: Failure) -> Ending:
    """Return how a run ends after a failure. Messages of unknown errors are not shown: they may hold anything."""
    if failure.error == _EXECUTION_TIMED_OUT:
        return Ending(status="timedOut")
    kind = error_type(failure)
    if kind is None:
        return Ending(status="error", title="The question could not be answered", detail=_UNEXPECTED, retryable=True)
    return Ending(
        status="error",
        title=_TITLES.get(failure.error, "The question could not be answered"),
        detail=message_of(failure) or _UNEXPECTED,
        retryable=issubclass(kind, errors.RetryableProviderError | errors.StorageUnavailable),
    )
