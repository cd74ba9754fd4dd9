"""A real HTTP server on loopback that answers every POST with the bytes a test gives it, piece by piece."""

import os
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

# How a body ends: as it should, by a connection that closes or is reset, or never (the server falls silent).
End = Literal["whole", "closed", "reset", "silent"]
_LONGEST_SILENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Reply:
    """What one request gets."""

    pieces: Iterable[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    end: End = "whole"


class WireServer:
    """Serves replies given by `reply_once` in turn, then the latest `reply` for good; `bodies`, `paths` and
    `request_headers` are what it got. Use `running()`."""

    def __init__(self, http: ThreadingHTTPServer) -> None:
        self._http = http
        self._once: deque[Reply] = deque()
        self.bodies: list[bytes] = []
        self.paths: list[str] = []
        self.request_headers: list[Mapping[str, str]] = []
        self.client_left = threading.Event()
        self.reply(())

    @property
    def url(self) -> str:
        """The base URL of the server."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def reply(
        self,
        pieces: Iterable[bytes],
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        content_type: str = "text/event-stream",
        end: End = "whole",
    ) -> None:
        """Set what the next requests get."""
        kept = tuple(pieces) if isinstance(pieces, list | tuple) else pieces
        self._lasting = Reply(kept, status, {"content-type": content_type, **(headers or {})}, end)

    def reply_lasting(self, reply: Reply) -> None:
        """Set what all further requests get."""
        self._lasting = reply

    def reply_once(self, reply: Reply) -> None:
        """Add what one request gets, before the lasting reply."""
        self._once.append(reply)

    def forget_replies(self) -> None:
        """Drop what was to be served once and was not asked for."""
        self._once.clear()

    def next_reply(self) -> Reply:
        """Return what the request at hand gets."""
        return self._once.popleft() if self._once else self._lasting


@contextmanager
def running() -> Iterator[WireServer]:
    """Run a server until the block ends."""
    http = _Http(("127.0.0.1", 0), _Handler)
    http.daemon_threads = True
    server = http.wire = WireServer(http)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


class _Http(ThreadingHTTPServer):
    wire: WireServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up: cutting streams is what the tests do."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without this, small pieces wait 40 ms for the peer's delayed acknowledgement.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        assert isinstance(self.server, _Http)
        server = self.server.wire
        server.paths.append(self.path)
        server.request_headers.append({name.lower(): value for name, value in self.headers.items()})
        server.bodies.append(self.rfile.read(int(self.headers.get("content-length", 0))))
        reply = server.next_reply()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for piece in reply.pieces:
                if piece:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self._end(reply.end)
        except OSError:
            self.close_connection = True
            server.client_left.set()

    def _end(self, end: End) -> None:
        if end == "whole":
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True
        if end == "silent":
            self.connection.settimeout(_LONGEST_SILENCE_SECONDS)
            self.connection.recv(1)  # until the client gives up
        elif end == "reset":
            # Without lingering, closing the descriptor itself sends RST.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing; the tests report."""
