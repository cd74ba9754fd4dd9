"""A real HTTP server on loopback that answers every POST with the bytes a test gives it, piece by piece."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WireServer:
    """Serves the latest `reply`; `bodies`, `paths` and `request_headers` are what it got. Use `running()`."""

    def __init__(self, http: ThreadingHTTPServer) -> None:
        self._http = http
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
        breaks_off: bool = False,
    ) -> None:
        """Set what the next requests get. With `breaks_off` the connection drops instead of ending the body."""
        self.pieces = tuple(pieces) if isinstance(pieces, list | tuple) else pieces
        self.status = status
        self.headers = {"content-type": content_type, **(headers or {})}
        self.breaks_off = breaks_off


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
        self.send_response(server.status)
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for piece in server.pieces:
                if piece:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if server.breaks_off:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
            server.client_left.set()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing; the tests report."""
