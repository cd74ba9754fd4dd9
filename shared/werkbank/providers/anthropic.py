"""Anthropic through its official SDK."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta
from werkbank.domain.errors import IncompleteStream, ProviderError, ProviderUnavailable
from werkbank.providers.anthropic_messages import build_parameters
from werkbank.providers.anthropic_stream import AnthropicReading
from werkbank.providers.deadline import Deadline
from werkbank.providers.faults import fault

if TYPE_CHECKING:
    from anthropic import Anthropic, APIStatusError

_PROVIDER = "Anthropic"
_CONNECT_SECONDS = 10.0


class AnthropicChat:
    """Chat with Claude models over the Messages API."""

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._base_url = base_url

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer's deltas; see `ChatProvider`."""
        from anthropic import Timeout

        deadline = Deadline(timeout_seconds)
        reading = AnthropicReading(model)
        timeout = Timeout(timeout_seconds, connect=min(_CONNECT_SECONDS, timeout_seconds))
        with (
            _translated_faults(reading),
            self._client.messages.create(**build_parameters(model, request), timeout=timeout) as stream,
        ):
            for event in stream:
                yield from reading.take(event)
                deadline.check()
        yield reading.end()

    @cached_property
    def _client(self) -> Anthropic:
        from anthropic import Anthropic

        # Retries are ours alone: one layer that knows the function's remaining time.
        return Anthropic(api_key=self._api_key, base_url=self._base_url, max_retries=0)


@contextmanager
def _translated_faults(reading: AnthropicReading) -> Iterator[None]:
    """Raise the SDK's faults as ours; what goes wrong after the end of the answer no longer matters."""
    from anthropic import APIConnectionError, APIError, APIStatusError, APITimeoutError
    from httpx2 import TimeoutException, TransportError

    try:
        yield
    except (APITimeoutError, TimeoutException) as error:
        _raise_unless_complete(reading, ProviderUnavailable(f"{_PROVIDER} did not answer in time."), error)
    except APIStatusError as error:
        _raise_unless_complete(reading, _status_fault(error), error)
    except APIConnectionError as error:
        _raise_unless_complete(reading, ProviderUnavailable(f"{_PROVIDER} cannot be reached."), error)
    except (TransportError, ValueError, APIError) as error:
        # The connection broke, or an event was no JSON: in both cases the rest of the answer is lost.
        _raise_unless_complete(reading, IncompleteStream("The model's answer was cut off."), error)


def _raise_unless_complete(reading: AnthropicReading, ours: ProviderError, cause: Exception) -> None:
    if not reading.is_complete:
        raise ours from cause


def _status_fault(error: APIStatusError) -> ProviderError:
    return fault(_PROVIDER, error.status_code, (_error_type(error.body),), error.response.headers)


def _error_type(body: object) -> str | None:
    detail = body.get("error") if isinstance(body, dict) else None
    kind = detail.get("type") if isinstance(detail, dict) else None
    return kind if isinstance(kind, str) else None
