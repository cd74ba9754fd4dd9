"""The connection to a server that speaks OpenAI's API, through the official SDK, and the SDK's faults as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from werkbank.domain.errors import IncompleteStream, ProviderError, ProviderUnavailable
from werkbank.providers.deadline import STALL_SECONDS, Deadline
from werkbank.providers.faults import fault

if TYPE_CHECKING:
    from openai import APIError, OpenAI, Timeout

_CONNECT_SECONDS = 10.0


class _Reading(Protocol):
    @property
    def is_complete(self) -> bool: ...


class Connection:
    """A client of one server, made when first used; `provider` is its name in messages."""

    def __init__(self, api_key: str, base_url: str | None, provider: str) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self.provider = provider

    @cached_property
    def client(self) -> OpenAI:
        """The SDK's client."""
        from openai import OpenAI

        # Retries are ours alone: one layer that knows the function's remaining time.
        return OpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0)


def timeout_of(seconds: float) -> Timeout:
    """Return the SDK's timeout for a call of so many seconds: the longest silence it bears."""
    from openai import Timeout

    return Timeout(min(STALL_SECONDS, seconds), connect=min(_CONNECT_SECONDS, seconds))


@contextmanager
def translated_faults(provider: str, deadline: Deadline, reading: _Reading | None = None) -> Iterator[None]:
    """Raise the SDK's faults as ours; what goes wrong after the end of the answer no longer matters."""
    from httpx2 import StreamError, TransportError
    from openai import OpenAIError

    try:
        yield
    # A ValueError is an event that is no JSON.
    except (OpenAIError, TransportError, StreamError, ValueError) as error:
        if reading is None or not reading.is_complete:
            deadline.check()
            raise _translated(provider, error) from error


def _translated(provider: str, error: Exception) -> ProviderError:
    from httpx2 import ConnectError
    from openai import APIConnectionError, APIError, APITimeoutError

    if isinstance(error, APITimeoutError):
        return ProviderUnavailable(f"{provider} did not answer in time.")
    if isinstance(error, APIConnectionError) and isinstance(error.__cause__, ConnectError):
        return ProviderUnavailable(f"{provider} cannot be reached.")
    if isinstance(error, APIError) and not isinstance(error, APIConnectionError):
        return _reported_fault(provider, error)
    return IncompleteStream("The model's answer was cut off.")


def _reported_fault(provider: str, error: APIError) -> ProviderError:
    from openai import APIStatusError

    codes = (error.code, error.type)
    if isinstance(error, APIStatusError):
        return fault(provider, error.status_code, codes, error.response.headers, error.message)
    return fault(provider, None, codes, {}, error.message)
