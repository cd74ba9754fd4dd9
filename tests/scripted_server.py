"""An OpenAI-compatible server on loopback that says what a test tells it to; any process reaches it by `privateLlmUrl`.

    with scripted_server([["Hello ", Hold(path), "world."]]) as server:
        ...  # server.url; the answer stops behind "Hello " until the file `path` exists

An answer is a sequence of pieces: text, tool calls, `Usage` (what this answer used, else the server's own), `Hold`
(wait), `Fault` (an HTTP error, first piece only), `BREAK` (drop the connection there). Instead of a list of answers, a
function may give the answer to each request. Requests for embeddings get the same unit vector for every text.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Final

from werkbank.domain.messages import ToolCall, Usage

_POLL_SECONDS = 0.01
_LONGEST_WAIT_SECONDS = 120.0
EMBEDDING = [1.0] + [0.0] * 1_023


@dataclass(frozen=True)
class Hold:
    """A point where the answer waits until the event is set or the file exists."""

    until: threading.Event | Path

    def wait(self) -> None:
        """Wait for the release, at most two minutes."""
        if isinstance(self.until, threading.Event):
            self.until.wait(_LONGEST_WAIT_SECONDS)
            return
        end = time.monotonic() + _LONGEST_WAIT_SECONDS
        while not self.until.exists() and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)


@dataclass(frozen=True)
class Fault:
    """An HTTP error in place of an answer."""

    status: int
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Break:
    """The connection drops here."""


BREAK: Final = Break()
Piece = str | ToolCall | Usage | Hold | Fault | Break
Answer = Sequence[Piece]
Request = dict[str, object]


class ScriptedServer:
    """What the server was asked, and where it is."""

    def __init__(self, answer_for: Callable[[Request], Answer], usage: Usage) -> None:
        self.answer_for = answer_for
        self.usage = usage
        self.requests: list[Request] = []
        self.hung_up = threading.Event()
        self.url = ""


@contextmanager
def scripted_server(
    answers: Sequence[Answer] | Callable[[Request], Answer], usage: Usage | None = None
) -> Iterator[ScriptedServer]:
    """Run the server until the block ends. With answers in a list, the last one is repeated when they run out."""
    used = usage or Usage(input_tokens=100, output_tokens=20)
    server = ScriptedServer(answers if callable(answers) else _one_after_the_other(answers), used)
    http = _Http(("127.0.0.1", 0), _Handler)
    http.daemon_threads = True
    http.scripted = server
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def _one_after_the_other(answers: Sequence[Answer]) -> Callable[[Request], Answer]:
    lock = threading.Lock()
    position = iter(range(len(answers)))

    def following(_: Request) -> Answer:
        with lock:
            return answers[next(position, len(answers) - 1)]

    return following


class _Http(ThreadingHTTPServer):
    scripted: ScriptedServer
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up: tests kill them on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without this, small pieces wait 40 ms for the peer's delayed acknowledgement.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        assert isinstance(self.server, _Http)
        server = self.server.scripted
        request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        if self.path.endswith("/embeddings"):
            self._send_embeddings(request["input"])
            return
        server.requests.append(request)
        answer = server.answer_for(request)
        try:
            match answer[0] if answer else None:
                case Fault() as fault:
                    self._send_fault(fault)
                case _:
                    self._send_answer(answer, server.usage)
        except OSError:
            server.hung_up.set()
            self.close_connection = True

    def _send_fault(self, fault: Fault) -> None:
        error = {"code": fault.code, "type": fault.code, "message": "scripted"}
        self._send_json(fault.status, {"error": error}, fault.headers)

    def _send_embeddings(self, texts: Sequence[str]) -> None:
        data = [{"object": "embedding", "index": index, "embedding": EMBEDDING} for index in range(len(texts))]
        tokens = sum(len(text.encode()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        self._send_json(200, {"object": "list", "model": "scripted", "data": data, "usage": usage})

    def _send_json(self, status: int, content: object, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send_answer(self, answer: Answer, usage: Usage) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        calls = 0
        for piece in answer:
            match piece:
                case Usage():
                    usage = piece
                case str():
                    self._send_choice({"content": piece})
                case ToolCall():
                    self._send_choice({"tool_calls": [_wire_call(calls, piece)]})
                    calls += 1
                case Hold():
                    piece.wait()
                case _:
                    self.close_connection = True
                    return
        self._send_choice({}, finish_reason="tool_calls" if calls else "stop")
        self._send_event({"choices": [], "usage": _wire_usage(usage)})
        self._send_chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _send_choice(self, delta: dict[str, object], finish_reason: str | None = None) -> None:
        self._send_event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})

    def _send_event(self, event: dict[str, object]) -> None:
        frame = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": "scripted", **event}
        self._send_chunk(f"data: {json.dumps(frame)}\n\n".encode())

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing; the tests report."""


def _wire_call(index: int, call: ToolCall) -> dict[str, object]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"index": index, "id": call.id, "type": "function", "function": function}


def _wire_usage(usage: Usage) -> dict[str, object]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
    }
