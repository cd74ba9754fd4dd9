"""A server on loopback that answers as Tavily does, with one page, as slowly as a test wants."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from werkbank.websearch.model import WebResult

_LONGEST_WAIT_SECONDS = 60.0


@dataclass
class SearchServer:
    """Where it is and what it was asked. Searches wait while `may_answer` is not set."""

    page: WebResult
    url: str = ""
    queries: list[str] = field(default_factory=list)
    may_answer: threading.Event = field(default_factory=threading.Event)


@contextmanager
def search_server(page: WebResult) -> Iterator[SearchServer]:
    """Run the server until the block ends."""
    search = SearchServer(page)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            search.queries.append(json.loads(self.rfile.read(int(self.headers["content-length"])))["query"])
            search.may_answer.wait(_LONGEST_WAIT_SECONDS)
            found = {"url": search.page.url, "title": search.page.title, "content": search.page.text}
            body = json.dumps({"results": [found]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing; the tests report."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    search.url = f"http://127.0.0.1:{http.server_address[1]}"
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield search
    finally:
        search.may_answer.set()
        http.shutdown()
        http.server_close()
