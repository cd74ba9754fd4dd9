"""Models on Amazon Bedrock over the Converse API, through boto3: it knows the event stream's frames."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Protocol, cast

from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta
from werkbank.providers.bedrock_connection import BedrockConnection, translated_faults
from werkbank.providers.bedrock_messages import build_parameters
from werkbank.providers.bedrock_stream import ConverseReading
from werkbank.providers.deadline import Deadline

# Inference profiles keep a request within a geography: https://docs.aws.amazon.com/bedrock/latest/userguide/
# inference-profiles-support.html. Elsewhere only the worldwide one is the same for every model.
_GEOGRAPHIES = {"eu": "eu", "us": "us"}


class _Events(Protocol):
    def __iter__(self) -> Iterator[Mapping[str, object]]: ...
    def close(self) -> None: ...


class BedrockChat:
    """Chat with models on Bedrock."""

    def __init__(self, connection: BedrockConnection) -> None:
        self._connection = connection

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer's deltas; see `ChatProvider`."""
        deadline = Deadline(timeout_seconds)
        parameters, prefix = build_parameters(model, request)
        reading = ConverseReading(model, request, prefix)
        with translated_faults(deadline, reading):
            answer = self._connection.client(timeout_seconds).converse_stream(
                modelId=self._model_id(model), **cast("dict[str, object]", parameters)
            )
            events = cast("_Events", answer["stream"])
            try:
                with deadline.enforced_on(events):
                    for event in _readable(events):
                        yield from reading.take(event)
                        deadline.check()
                    if not reading.is_complete:
                        # An answer that its deadline closes can also just end.
                        deadline.check()
            finally:
                events.close()
        yield reading.end()

    def _model_id(self, model: Model) -> str:
        return f"{_GEOGRAPHIES.get(self._connection.region.partition('-')[0], 'global')}.{model.name}"


def _readable(events: _Events) -> Iterator[Mapping[str, object]]:
    """Leave out events that boto3 refuses to read: a block that starts nothing, as some models send before text."""
    from botocore.parsers import ResponseParserError

    while True:
        try:
            yield from events
        except ResponseParserError:
            continue
        return
