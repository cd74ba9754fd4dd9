"""Connections that go only where they may, and only for as long as they may.

The name is resolved once, every address is checked, and the connection goes to the checked address itself: a name that
resolves to something else a moment later (DNS rebinding) changes nothing. Host header, SNI and certificate stay with
the name, since only the connection knows the address.
"""

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

import httpcore2

from werkbank.domain.errors import ToolError
from werkbank.web.addresses import Address, Resolver

Options = Iterable[tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]]
_Result = TypeVar("_Result")


class Deadline:
    """A moment after which everything is given up: a server that sends a byte a second is not waited for."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds left. Raises ToolError when there are none."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise self.error()
        return seconds

    def error(self) -> ToolError:
        """Return what is said of a page that took too long."""
        return ToolError(f"The page could not be read within {self._seconds:g} seconds. Try another source.")

    def within(self, work: Callable[[], _Result]) -> _Result:
        """Do something that knows no timeout, such as asking a resolver; its thread may outlive the wait."""
        results: SimpleQueue[tuple[_Result | None, Exception | None]] = SimpleQueue()

        def run() -> None:
            try:
                results.put((work(), None))
            except Exception as error:  # handed over to the waiting thread
                results.put((None, error))

        threading.Thread(target=run, daemon=True).start()
        try:
            result, error = results.get(timeout=self.remaining())
        except Empty:
            raise self.error() from None
        if error is not None:
            raise error
        return result  # type: ignore[return-value]  # None only along with an error, or where work returns None


class CheckedBackend(httpcore2.NetworkBackend):
    """Opens connections of one page's fetch."""

    def __init__(self, resolver: Resolver, may_connect: Callable[[Address], bool], deadline: Deadline) -> None:
        self._resolver = resolver
        self._may_connect = may_connect
        self._deadline = deadline
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Options | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first checked address that answers. Raises ToolError for hosts that may not be reached."""
        failure: Exception = httpcore2.ConnectError("no address")
        for address in self._checked(host, port):
            try:
                stream = self._sockets.connect_tcp(
                    str(address), port, self._deadline.remaining(), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _TimedStream(stream, self._deadline)
        raise failure

    def _checked(self, host: str, port: int) -> Sequence[Address]:
        addresses = self._deadline.within(lambda: self._resolver(host, port))
        # One bad address among good ones is no accident, so the host as a whole is refused.
        if not addresses or not all(map(self._may_connect, addresses)):
            raise ToolError(f"“{host[:100]}” is not an address of the open web; only public web pages can be read.")
        return addresses


class _TimedStream(httpcore2.NetworkStream):
    """A connection whose every wait ends with the deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.remaining())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.remaining())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.remaining())
        return _TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
