"""Errors as problem documents (RFC 9457): one mapping for REST and socket."""

from werkbank.domain.base import WireModel
from werkbank.domain.errors import (
    BudgetExceeded,
    Conflict,
    Forbidden,
    InvalidInput,
    LoopUnavailable,
    NotFound,
    ProviderError,
    StorageUnavailable,
    TooLarge,
    UserError,
    WerkbankError,
)

_KINDS: tuple[tuple[type[WerkbankError], int, str], ...] = (
    (InvalidInput, 422, "The input is not valid"),
    (NotFound, 404, "Not found"),
    (Forbidden, 403, "Not allowed"),
    (Conflict, 409, "Not possible in this state"),
    (TooLarge, 413, "Too large"),
    (BudgetExceeded, 402, "The budget is used up"),
    (UserError, 400, "Not possible"),
    (ProviderError, 502, "The model provider failed"),
    (StorageUnavailable, 503, "The database cannot be reached"),
    (LoopUnavailable, 503, "The work could not be started"),
)


class Problem(WireModel):
    """A problem document. `type` stays `about:blank`: title and status say the kind, detail is for the person."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


def problem_of(error: WerkbankError) -> Problem:
    """Return the problem document of an error; details of unexpected ones are not shown."""
    for kind, status, title in _KINDS:
        if isinstance(error, kind):
            return Problem(title=title, status=status, detail=str(error))
    return UNEXPECTED


UNEXPECTED = Problem(title="Something failed", status=500, detail="Something failed inside Werkbank. Please try again.")
