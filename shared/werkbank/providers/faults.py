"""Every provider's faults, as the types of `domain/errors.py` (AG-11). SDK adapters only say what they saw.

Messages say who failed and why in words of ours: a provider's own text may repeat parts of the prompt or of a key.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime

from werkbank.domain.errors import (
    ModelNotFound,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
)
from werkbank.domain.time import utc_now

_REFUSED = frozenset(
    {
        "authentication_error",
        "billing_error",
        "billing_hard_limit_reached",
        "insufficient_quota",
        "invalid_api_key",
        "permission_error",
        "account_deactivated",
    }
)
_NOT_FOUND = frozenset({"model_not_found", "not_found_error"})
_RATE_LIMITED = frozenset({"rate_limit_error", "rate_limit_exceeded", "too_many_requests"})
_UNAVAILABLE = frozenset(
    {"api_error", "overloaded_error", "server_error", "timeout_error", "internal_error", "service_unavailable"}
)
_REJECTED = frozenset({"invalid_request_error", "context_length_exceeded", "invalid_prompt", "request_too_large"})


def fault(provider: str, status: int | None, codes: Sequence[str | None], headers: Mapping[str, str]) -> ProviderError:
    """Return the error for what a provider answered.

    `codes` are the provider's own words for the fault, the most exact first; they outrank the HTTP `status`, because
    inside a stream the status is still that of the success it began as.
    """
    for code in codes:
        known = _by_code(provider, code, headers)
        if known is not None and not (code == "invalid_request_error" and status in (401, 403, 404, 429)):
            return known
    return _by_status(provider, status, headers)


def _by_code(provider: str, code: str | None, headers: Mapping[str, str]) -> ProviderError | None:
    if code in _REFUSED:
        return _refused(provider)
    if code in _NOT_FOUND:
        return _not_found(provider)
    if code in _RATE_LIMITED:
        return _rate_limited(provider, headers)
    if code in _UNAVAILABLE:
        return _unavailable(provider)
    return _rejected(provider) if code in _REJECTED else None


def _by_status(provider: str, status: int | None, headers: Mapping[str, str]) -> ProviderError:
    if status in (401, 402, 403):
        return _refused(provider)
    if status == 404:
        return _not_found(provider)
    if status == 429:
        return _rate_limited(provider, headers)
    if status is not None and 400 <= status < 500 and status not in (408, 409, 425):
        return _rejected(provider)
    return _unavailable(provider)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the wait a `Retry-After` header asks for, given as seconds or as a date (RFC 9110 §10.2.3), else None."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    # A date without a zone is GMT by the RFC.
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - utc_now()).total_seconds())


def _refused(provider: str) -> ProviderError:
    return ProviderRefused(f"{provider} refuses the credentials, or the account there has no credit left.")


def _not_found(provider: str) -> ProviderError:
    return ModelNotFound(f"{provider} does not offer this model.")


def _rate_limited(provider: str, headers: Mapping[str, str]) -> ProviderError:
    return RateLimited(f"{provider} is receiving too many requests.", retry_after_seconds(headers))


def _unavailable(provider: str) -> ProviderError:
    return ProviderUnavailable(f"{provider} is not available at the moment.")


def _rejected(provider: str) -> ProviderError:
    return RequestRejected(f"{provider} calls the request invalid.")
