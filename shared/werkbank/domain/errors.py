"""Every error of ours. A type says who may act on it, so that nobody has to match texts.

WerkbankError
├── UserError              the request cannot be done; the message says what to do instead
│   ├── InvalidInput       a field is missing or wrong
│   ├── NotFound           there is no such thing, or it is somebody else's
│   ├── Forbidden          the principal lacks the right
│   ├── Conflict           the thing is in a state that does not allow it
│   ├── TooLarge           beyond a limit that the message names
│   └── BudgetExceeded     the next call would cost more than is left
├── DocumentError          a file cannot be read; the message is shown beside the file
├── ToolError              goes back to the model as the tool's result, so that it may try again
├── ProviderError          a model provider failed
│   ├── RetryableProviderError
│   │   ├── RateLimited            wait `retry_after_seconds`
│   │   ├── ProviderUnavailable    timeout, network, 5xx
│   │   ├── IncompleteStream       the stream ended without its terminal event
│   │   ├── EmptyAnswer            the answer ended in good order, with nothing in it
│   │   └── DeadlineTooNear        no time is left for another try here; a fresh invocation has it
│   └── TerminalProviderError
│       ├── ProviderRefused        credentials or billing
│       ├── ModelNotFound          this model does not exist there
│       ├── ToolsUnsupported       the model answers, but not while tools are offered
│       ├── ThinkingRefused        the model answers, but takes back no thinking of earlier answers
│       ├── PromptTooLong          the prompt is longer than the model reads
│       ├── AnswerDeclined         the model, or a filter before it, will not answer this
│       └── RequestRejected        the request itself is wrong
├── StorageUnavailable     the database cannot be reached now (it may be resuming); the same call may succeed later
├── LoopUnavailable        a state machine cannot be started now; the same call may succeed later
└── RunOver                the run has ended meanwhile (a stop): whoever works for it gives up quietly

Step Functions' `ErrorEquals` matches these class names: they are a contract with `statemachines/`.
"""


class WerkbankError(Exception):
    """Base of all. The message is written for a person."""


class UserError(WerkbankError):
    """The request cannot be done; the message says what to do instead."""


class InvalidInput(UserError):
    """A field is missing or wrong."""


class NotFound(UserError):
    """There is no such thing, or it belongs to somebody else: both look the same from outside."""


class Forbidden(UserError):
    """The principal lacks the right."""


class Conflict(UserError):
    """The thing is in a state that does not allow it."""


class TooLarge(UserError):
    """Beyond a limit that the message names."""


class BudgetExceeded(UserError):
    """The next call would cost more than is left of the run's or the mandate's money."""


class DocumentError(WerkbankError):
    """A file cannot be read; the message is shown beside the file."""


class ToolError(WerkbankError):
    """A tool cannot do what was asked; goes back to the model as the tool's result."""


class ProviderError(WerkbankError):
    """A model provider failed."""


class RetryableProviderError(ProviderError):
    """The same call may succeed later or elsewhere."""


class RateLimited(RetryableProviderError):
    """The provider asks to wait `retry_after_seconds` (None: it did not say)."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ProviderUnavailable(RetryableProviderError):
    """Timeout, network fault or 5xx."""


class IncompleteStream(RetryableProviderError):
    """The stream ended without its terminal event; official SDKs accept that, we do not."""


class EmptyAnswer(RetryableProviderError):
    """The model ended its answer without a word or a call, such as after thinking up to its limit."""


class DeadlineTooNear(RetryableProviderError):
    """A fault that another try might pass, but not in the time this invocation has left; the message is the fault's."""


class TerminalProviderError(ProviderError):
    """The same call will fail again."""


class ProviderRefused(TerminalProviderError):
    """Credentials or billing: only a person can mend it."""


class ModelNotFound(TerminalProviderError):
    """The provider does not know this model."""


class ToolsUnsupported(TerminalProviderError):
    """The model cannot be offered tools; the same call without them may succeed (AI-07)."""


class ThinkingRefused(TerminalProviderError):
    """The provider does not take back what an earlier answer thought; the same call without it may succeed."""


class PromptTooLong(TerminalProviderError):
    """The prompt is longer than the model reads; a shorter one may succeed."""


class AnswerDeclined(TerminalProviderError):
    """The model, or a filter before it, will not answer this."""


class RequestRejected(TerminalProviderError):
    """The provider calls the request itself wrong."""


class StorageUnavailable(WerkbankError):
    """The database cannot be reached now; the same call may succeed later."""


class LoopUnavailable(WerkbankError):
    """A state machine cannot be started now; the same call may succeed later."""


class RunOver(WerkbankError):
    """The run has ended meanwhile; whoever works for it gives up quietly."""
