"""Reads a web page that a model names (TB-07). The address is hostile until checked, and so is what it sends."""

import ssl
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from email.message import Message

import httpcore2
import httpx2

from werkbank.domain.errors import ToolError
from werkbank.web.addresses import Address, Resolver, is_public, resolve
from werkbank.web.apart import read_apart
from werkbank.web.connection import CheckedBackend, Deadline
from werkbank.web.main_text import is_readable_type
from werkbank.websearch.model import WebPage

# Statuses of servers that are overloaded or being restarted; before the second and the third try.
_PASSING = frozenset({429, 502, 503, 504})
_WAITS_SECONDS = (1.0, 2.0)
MAX_BYTES = 5 * 1024 * 1024
MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS: dict[bytes | str, bytes | str] = {
    "User-Agent": "Mozilla/5.0 (compatible; Werkbank)",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.1",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}


@dataclass(frozen=True, slots=True)
class _Fetched:
    """One answer: where a redirect leads, else the content."""

    location: str | None = None
    data: bytes = b""
    mime_type: str = ""
    charset: str | None = None


class _PassingFaultError(ToolError):
    """A fault of the moment: the same address may answer a little later."""


class WebReader:
    """Fetches pages of the open web. `may_connect` says which addresses that is; `resolver` turns names into them.

    Faults that may pass are waited for with `pause`: a page is asked for three times at most (AG-11).
    """

    def __init__(
        self,
        *,
        may_connect: Callable[[Address], bool] = is_public,
        resolver: Resolver = resolve,
        ssl_context: ssl.SSLContext | None = None,
        timeout_seconds: float = 20.0,
        max_bytes: int = MAX_BYTES,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._may_connect = may_connect
        self._resolver = resolver
        self._ssl_context = ssl_context
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes
        self._pause = pause

    def read(self, url: str) -> WebPage:
        """Return a page's main text. Raises ToolError saying why an address cannot be read and what to do."""
        deadline = Deadline(self._timeout_seconds)
        target = _checked_url(url)
        for _ in range(MAX_REDIRECTS + 1):
            fetched = self._fetch_patiently(target, deadline)
            if fetched.location is None:
                return read_apart(fetched.data, str(target), fetched.mime_type, fetched.charset, deadline)
            target = _checked_url(fetched.location, target)
        raise ToolError(f"The address redirects more than {MAX_REDIRECTS} times. Try another source.")

    def _fetch_patiently(self, url: httpx2.URL, deadline: Deadline) -> _Fetched:
        for seconds in _WAITS_SECONDS:
            try:
                return self._fetch(url, deadline)
            except _PassingFaultError:
                if deadline.remaining() <= seconds:
                    raise
            self._pause(seconds)
        return self._fetch(url, deadline)

    def _fetch(self, url: httpx2.URL, deadline: Deadline) -> _Fetched:
        backend = CheckedBackend(self._resolver, self._may_connect, deadline)
        target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        try:
            # A pool of its own for each step: no connection is used again for another name.
            with (
                httpcore2.ConnectionPool(ssl_context=self._ssl_context, network_backend=backend) as pool,
                pool.stream("GET", target, headers={"Host": url.netloc.decode("ascii"), **_HEADERS}) as response,
            ):
                return self._answer(response)
        except httpcore2.TimeoutException as error:
            raise deadline.error() from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, zlib.error, ssl.SSLError) as error:
            fault = _PassingFaultError if isinstance(error, httpcore2.NetworkError) else ToolError
            raise fault(f"“{url.host}” cannot be reached or does not answer properly. Try another source.") from error

    def _answer(self, response: httpcore2.Response) -> _Fetched:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        if response.status in _REDIRECTS and "location" in headers:
            return _Fetched(location=headers["location"])
        if not 200 <= response.status < 300:
            fault = _PassingFaultError if response.status in _PASSING else ToolError
            raise fault(f"The page answered with HTTP status {response.status}. Check the address or try another.")
        mime_type, charset = _content_type(headers)
        if not is_readable_type(mime_type):
            raise ToolError(f"The address leads to {mime_type[:80]}; only web pages, texts and PDF are read.")
        return _Fetched(None, self._body(response, headers), mime_type, charset)

    def _body(self, response: httpcore2.Response, headers: Mapping[str, str]) -> bytes:
        """Read the content, counted as it comes: what a server says of its length is not relied upon."""
        declared = headers.get("content-length", "")
        if declared.isdigit() and int(declared) > self._max_bytes:
            raise self._too_large()
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"identity", "", "gzip", "x-gzip"}:
            raise ToolError("The page is packed in a way that was not asked for. Try another source.")
        chunks = response.iter_stream()
        content = bytearray()
        for piece in _unpacked(chunks, self._max_bytes) if encoding.endswith("gzip") else chunks:
            content += piece
            if len(content) > self._max_bytes:
                raise self._too_large()
        return bytes(content)

    def _too_large(self) -> ToolError:
        return ToolError(f"The page is larger than {self._max_bytes // 1024**2} MB. Try a smaller one.")


def _checked_url(text: str, base: httpx2.URL | None = None) -> httpx2.URL:
    """Return an absolute http(s) URL without fragment. Raises ToolError."""
    try:
        url = base.join(text) if base is not None else httpx2.URL(text.strip())
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise ToolError("This is not a web address. Give one like https://example.org/page.") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ToolError("Only addresses that begin with http:// or https:// can be read.")
    if url.userinfo:
        raise ToolError("Addresses with a user name or password in them are not read. Leave that part out.")
    if url.port is not None and not 0 < url.port < 65_536:
        raise ToolError(f"There is no port {url.port}. Check the address.")
    return url.copy_with(fragment=None)


def _content_type(headers: Mapping[str, str]) -> tuple[str, str | None]:
    message = Message()
    message["content-type"] = headers.get("content-type", "")
    mime_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    charset = message.get_content_charset()
    return mime_type, charset


def _unpacked(chunks: Iterable[bytes], limit: int) -> Iterable[bytes]:
    """Unpack gzip piece by piece, never more than `limit` + 1 bytes at once: a bomb goes off outside."""
    unpacker = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        packed = chunk
        while packed:
            if unpacker.eof:  # RFC 1952: one member may follow another
                unpacker = zlib.decompressobj(wbits=31)
            yield unpacker.decompress(packed, limit + 1)
            packed = unpacker.unconsumed_tail or unpacker.unused_data
    if not unpacker.eof:
        raise zlib.error("the content ends too early")
