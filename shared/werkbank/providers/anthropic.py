"""Anthropic through its official SDK."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta
from werkbank.domain.errors import IncompleteStream, ProviderError, ProviderUnavailable
from werkbank.providers.anthropic_messages import build_parameters
from werkbank.providers.anthropic_stream import AnthropicReading
from werkbank.providers.deadline import STALL_SECONDS, Deadline
from werkbank.providers.faults import fault

if TYPE_CHECKING:
    from anthropic import Anthropic, APIStatusError, Stream, Timeout
    from anthropic.types import RawMessageStreamEvent
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

_PROVIDER = "Anthropic"
_CONNECT_SECONDS = 10.0
_NOTES_REFUSED = re.compile(r"thinking-display-updates|thinking\.(?:adaptive\.)?display|invalid beta")


class AnthropicChat:
    """Chat with Claude models over the Messages API."""

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._takes_notes = True

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer's deltas; see `ChatProvider`."""
        from anthropic import Timeout

        deadline = Deadline(timeout_seconds)
        parameters, prefix = build_parameters(model, request)
        reading = AnthropicReading(model, request, prefix, shows_notes="thinking" in parameters)
        timeout = Timeout(min(STALL_SECONDS, timeout_seconds), connect=min(_CONNECT_SECONDS, timeout_seconds))
        with (
            _translated_faults(reading, deadline),
            self._open(parameters, timeout) as stream,
            deadline.enforced_on(stream),
        ):
            for event in stream:
                yield from reading.take(event)
                deadline.check()
        yield reading.end()

    def _open(self, parameters: MessageCreateParamsStreaming, timeout: Timeout) -> Stream[RawMessageStreamEvent]:
        """Begin the call, again without notes where a server in between does not know them: they are a beta."""
        from anthropic import BadRequestError

        if self._takes_notes and "thinking" in parameters:
            try:
                headers = {"anthropic-beta": "thinking-display-updates-2026-08-18"}
                return self._client.messages.create(**parameters, extra_headers=headers, timeout=timeout)
            except BadRequestError as error:
                if not _NOTES_REFUSED.search(error.message):
                    raise
            self._takes_notes = False
        parameters.pop("thinking", None)
        return self._client.messages.create(**parameters, timeout=timeout)

    @cached_property
    def _client(self) -> Anthropic:
        from anthropic import Anthropic

        # Retries are ours alone: one layer that knows the function's remaining time.
        return Anthropic(api_key=self._api_key, base_url=self._base_url, max_retries=0)


@contextmanager
def _translated_faults(reading: AnthropicReading, deadline: Deadline) -> Iterator[None]:
    """Raise the SDK's faults as ours; what goes wrong after the end of the answer no longer matters."""
    from anthropic import AnthropicError
    from httpx2 import StreamError, TransportError

    try:
        yield
    # A ValueError is an event that is no JSON.
    except (AnthropicError, TransportError, StreamError, ValueError) as error:
        if not reading.is_complete:
            deadline.check()
            raise _translated(error) from error


def _translated(error: Exception) -> ProviderError:
    from anthropic import APIConnectionError, APIStatusError, APITimeoutError
    from httpx2 import TimeoutException

    if isinstance(error, APITimeoutError | TimeoutException):
        return ProviderUnavailable(f"{_PROVIDER} did not answer in time.")
    if isinstance(error, APIStatusError):
        return _status_fault(error)
    if isinstance(error, APIConnectionError):
        return ProviderUnavailable(f"{_PROVIDER} cannot be reached.")
    return IncompleteStream("The model's answer was cut off.")


def _status_fault(error: APIStatusError) -> ProviderError:
    detail = error.body.get("error") if isinstance(error.body, dict) else None
    told = detail if isinstance(detail, dict) else {}
    message = str(told.get("message", ""))
    return fault(_PROVIDER, error.status_code, (told.get("type"),), error.response.headers, message)
