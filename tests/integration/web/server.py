"""A web server on loopback that does what a test tells it to, for pages that behave and pages that do not."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Both are this machine. One plays the open web, the other what must not be reached.
OPEN_WEB = "127.0.0.2"
FORBIDDEN = "127.0.0.1"

Page = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """One request; pages answer through its helpers or write to it directly."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        self.server.seen.append((self.headers["Host"], self.path))
        self.close_connection = True
        try:
            self.server.pages[self.path.partition("?")[0]](self)
        except (BrokenPipeError, ConnectionResetError):
            self.server.hung_up.set()

    def answer(self, body: bytes, content_type: str | None = "text/html; charset=utf-8", **headers: str) -> None:
        """Send a whole page; header names are written with underscores."""
        self.send_response(200)
        if content_type is not None:
            self.send_header("Content-Type", content_type)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, location: str, status: int = 302) -> None:
        """Send the reader elsewhere."""
        self.send_response(status)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def drip(self, piece: bytes) -> None:
        """Send one piece every 20 ms until the reader has had enough."""
        while not self.server.hung_up.wait(0.02):
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """The pages by path, and what was asked of them."""

    daemon_threads = True

    def __init__(self, address: str) -> None:
        super().__init__((address, 0), Request)
        self.address = address
        self.pages: dict[str, Page] = {}
        self.seen: list[tuple[str, str]] = []
        self.hung_up = threading.Event()

    def url(self, path: str, host: str | None = None, scheme: str = "http") -> str:
        """Return the address of a path, under a name if one is given."""
        return f"{scheme}://{host or self.address}:{self.server_port}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Readers that hang up are what these tests are about."""


@contextmanager
def web_server(address: str = OPEN_WEB, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Serve until the block ends."""
    server = Server(address)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.hung_up.set()
        server.shutdown()
        server.server_close()
