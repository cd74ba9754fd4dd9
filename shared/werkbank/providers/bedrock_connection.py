"""The connection to Amazon Bedrock through boto3, which signs the calls, and boto3's faults as ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, cast

from werkbank.domain.errors import (
    IncompleteStream,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RequestRejected,
)
from werkbank.providers.deadline import STALL_SECONDS, Deadline
from werkbank.providers.faults import fault

if TYPE_CHECKING:
    import boto3
    from botocore.exceptions import ClientError

PROVIDER = "Amazon Bedrock"
_CONNECT_SECONDS = 10.0


class _Client(Protocol):
    def converse_stream(self, **parameters: object) -> Mapping[str, object]: ...
    def invoke_model(self, **parameters: object) -> Mapping[str, object]: ...


class _Reading(Protocol):
    @property
    def is_complete(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """Credentials of one's own, where no role gives any."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


class BedrockConnection:
    """Bedrock in one region; without `keys` the function's role signs the calls."""

    def __init__(self, region: str, keys: AwsKeys | None = None, base_url: str | None = None) -> None:
        self.region = region
        self._keys = keys
        # Named always: the laptop twin points boto3's default at its own AWS, which has no models.
        self._base_url = base_url or f"https://bedrock-runtime.{region}.amazonaws.com"

    def client(self, timeout_seconds: float) -> _Client:
        """Return a client for one call: boto3 takes timeouts when a client is made, 2 ms after the first."""
        from botocore.config import Config

        config = Config(
            connect_timeout=min(_CONNECT_SECONDS, timeout_seconds),
            read_timeout=min(STALL_SECONDS, timeout_seconds),
            # Retries are ours alone: one layer that knows the function's remaining time.
            retries={"total_max_attempts": 1, "mode": "standard"},
        )
        client = self._session.client("bedrock-runtime", endpoint_url=self._base_url, config=config)  # type: ignore[call-overload,unused-ignore]
        return cast("_Client", client)

    @cached_property
    def _session(self) -> boto3.Session:
        import boto3

        if self._keys is None:
            return boto3.Session(region_name=self.region)
        return boto3.Session(
            aws_access_key_id=self._keys.access_key_id,
            aws_secret_access_key=self._keys.secret_access_key,
            aws_session_token=self._keys.session_token,
            region_name=self.region,
        )


@contextmanager
def translated_faults(deadline: Deadline, reading: _Reading | None = None) -> Iterator[None]:
    """Raise boto3's faults as ours; what goes wrong after the end of the answer no longer matters."""
    from botocore.eventstream import ParserError
    from botocore.exceptions import BotoCoreError, ClientError
    from urllib3.exceptions import HTTPError

    try:
        yield
    # A ValueError is an answer that is read from after its deadline closed it.
    except (BotoCoreError, ClientError, ParserError, HTTPError, ValueError, OSError) as error:
        if reading is None or not reading.is_complete:
            deadline.check()
            raise _translated(error) from error
    except AttributeError:
        # What urllib3 makes of an answer that its deadline closes while it is read.
        if not deadline.is_over:
            raise
        if reading is None or not reading.is_complete:
            deadline.check()


def _translated(error: Exception) -> ProviderError:
    from botocore import exceptions
    from urllib3.exceptions import ReadTimeoutError

    if isinstance(error, exceptions.ClientError):
        return _reported_fault(error)
    if isinstance(error, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
        return ProviderRefused(f"There are no credentials for {PROVIDER}.")
    if isinstance(error, exceptions.ParamValidationError):
        return RequestRejected(f"{PROVIDER} cannot take this request.")
    if isinstance(error, exceptions.ReadTimeoutError | exceptions.ConnectTimeoutError | ReadTimeoutError):
        return ProviderUnavailable(f"{PROVIDER} did not answer in time.")
    if isinstance(error, exceptions.ConnectionError | exceptions.HTTPClientError):
        return ProviderUnavailable(f"{PROVIDER} cannot be reached.")
    return IncompleteStream("The model's answer was cut off.")


def _reported_fault(error: ClientError) -> ProviderError:
    answer = cast("Mapping[str, Mapping[str, object]]", error.response)
    metadata = answer.get("ResponseMetadata", {})
    status = metadata.get("HTTPStatusCode")
    headers = cast("Mapping[str, str]", metadata.get("HTTPHeaders", {}))
    told = answer.get("Error", {})
    known_status = status if isinstance(status, int) else None
    return fault(PROVIDER, known_status, (told.get("Code"),), headers, str(told.get("Message", "")))
