"""Models on Amazon Bedrock over the Converse API, through boto3: it knows the event stream's frames and the signing."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, cast

from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta
from werkbank.domain.errors import (
    IncompleteStream,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RequestRejected,
)
from werkbank.providers.bedrock_messages import build_parameters
from werkbank.providers.bedrock_stream import ConverseReading
from werkbank.providers.deadline import Deadline
from werkbank.providers.faults import fault

if TYPE_CHECKING:
    import boto3
    from botocore.exceptions import ClientError

_PROVIDER = "Amazon Bedrock"
_CONNECT_SECONDS = 10.0
# Inference profiles keep a request within a geography: https://docs.aws.amazon.com/bedrock/latest/userguide/
# inference-profiles-support.html. Elsewhere only the worldwide one is the same for every model.
_GEOGRAPHIES = {"eu": "eu", "us": "us"}


class _Events(Protocol):
    def __iter__(self) -> Iterator[Mapping[str, object]]: ...
    def close(self) -> None: ...


class _Client(Protocol):
    def converse_stream(self, **parameters: object) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """Credentials of one's own, where no role gives any."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


class BedrockChat:
    """Chat with models on Bedrock; without `keys` the function's role signs the calls."""

    def __init__(self, region: str, keys: AwsKeys | None = None, base_url: str | None = None) -> None:
        self._region = region
        self._keys = keys
        # Named always: the laptop twin points boto3's default at its own AWS, which has no models.
        self._base_url = base_url or f"https://bedrock-runtime.{region}.amazonaws.com"

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer's deltas; see `ChatProvider`."""
        deadline = Deadline(timeout_seconds)
        reading = ConverseReading(model, request)
        with _translated_faults(reading, deadline):
            parameters = cast("dict[str, object]", build_parameters(model, request))
            answer = self._client(timeout_seconds).converse_stream(modelId=self._model_id(model), **parameters)
            events = cast("_Events", answer["stream"])
            try:
                with deadline.enforced_on(events):
                    for event in _readable(events):
                        yield from reading.take(event)
                        deadline.check()
            finally:
                events.close()
        yield reading.end()

    def _model_id(self, model: Model) -> str:
        return f"{_GEOGRAPHIES.get(self._region.partition('-')[0], 'global')}.{model.name}"

    def _client(self, timeout_seconds: float) -> _Client:
        """Return a client for one call: boto3 takes timeouts when a client is made, 2 ms after the first."""
        from botocore.config import Config

        config = Config(
            connect_timeout=min(_CONNECT_SECONDS, timeout_seconds),
            read_timeout=timeout_seconds,
            # Retries are ours alone: one layer that knows the function's remaining time.
            retries={"total_max_attempts": 1, "mode": "standard"},
        )
        client = self._session.client("bedrock-runtime", endpoint_url=self._base_url, config=config)  # type: ignore[call-overload,unused-ignore]
        return cast("_Client", client)

    @cached_property
    def _session(self) -> boto3.Session:
        import boto3

        if self._keys is None:
            return boto3.Session(region_name=self._region)
        return boto3.Session(
            aws_access_key_id=self._keys.access_key_id,
            aws_secret_access_key=self._keys.secret_access_key,
            aws_session_token=self._keys.session_token,
            region_name=self._region,
        )


def _readable(events: _Events) -> Iterator[Mapping[str, object]]:
    """Leave out events that boto3 refuses to read: a block that starts nothing, as some models send before text."""
    from botocore.parsers import ResponseParserError

    while True:
        try:
            yield from events
        except ResponseParserError:
            continue
        return


@contextmanager
def _translated_faults(reading: ConverseReading, deadline: Deadline) -> Iterator[None]:
    """Raise boto3's faults as ours; what goes wrong after the end of the answer no longer matters."""
    from botocore.eventstream import ParserError
    from botocore.exceptions import BotoCoreError, ClientError
    from urllib3.exceptions import HTTPError

    try:
        yield
    # A ValueError is an answer that is read from after its deadline closed it.
    except (BotoCoreError, ClientError, ParserError, HTTPError, ValueError, OSError) as error:
        if not reading.is_complete:
            deadline.check()
            raise _translated(error) from error
    except AttributeError:
        # What urllib3 makes of an answer that its deadline closes while it is read.
        if not deadline.is_over:
            raise
        if not reading.is_complete:
            deadline.check()


def _translated(error: Exception) -> ProviderError:
    from botocore import exceptions
    from urllib3.exceptions import ReadTimeoutError

    if isinstance(error, exceptions.ClientError):
        return _reported_fault(error)
    if isinstance(error, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
        return ProviderRefused(f"There are no credentials for {_PROVIDER}.")
    if isinstance(error, exceptions.ParamValidationError):
        return RequestRejected(f"{_PROVIDER} cannot take this request.")
    if isinstance(error, exceptions.ReadTimeoutError | exceptions.ConnectTimeoutError | ReadTimeoutError):
        return ProviderUnavailable(f"{_PROVIDER} did not answer in time.")
    if isinstance(error, exceptions.ConnectionError | exceptions.HTTPClientError):
        return ProviderUnavailable(f"{_PROVIDER} cannot be reached.")
    return IncompleteStream("The model's answer was cut off.")


def _reported_fault(error: ClientError) -> ProviderError:
    answer = cast("Mapping[str, Mapping[str, object]]", error.response)
    metadata = answer.get("ResponseMetadata", {})
    status = metadata.get("HTTPStatusCode")
    headers = cast("Mapping[str, str]", metadata.get("HTTPHeaders", {}))
    told = answer.get("Error", {})
    known_status = status if isinstance(status, int) else None
    return fault(_PROVIDER, known_status, (told.get("Code"),), headers, str(told.get("Message", "")))
