"""Recorded provider streams (`*.chunks.txt`, one raw event a line), and their bytes on the wire."""

import json
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.bench.contents import Content, WireFormat, streamed_content, whole_content

_FOLDERS: dict[str, WireFormat] = {
    "anthropic": "anthropic",
    **dict.fromkeys(("openai-responses", "open-responses", "azure"), "responses"),
    "amazon-bedrock": "bedrock",
    "xai": "chat",
    **dict.fromkeys(
        ("openai-chat", "openai-compatible", "deepseek", "groq", "mistral", "moonshotai", "alibaba", "perplexity"),
        "chat",
    ),
}
_EVENT_NAME = re.compile(r'"type"\s*:\s*"([^"]+)"')
_BEDROCK_EVENTS = {"messageStart", "contentBlockStart", "contentBlockDelta", "messageStop", "metadata"}


@dataclass(frozen=True)
class Recording:
    """A recorded stream."""

    path: Path
    lines: tuple[str, ...]
    format: WireFormat | None

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.name.removesuffix(".chunks.txt")

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events that are JSON."""
        parsed = (_parsed(line) for line in self.lines)
        return [event for event in parsed if event is not None]

    @property
    def is_broken(self) -> bool:
        """Tell whether an event is no JSON: such a stream cannot be trusted to be whole."""
        return any(_parsed(line) is None for line in self.lines)

    @property
    def content_type(self) -> str:
        """The media type the provider sends the stream as."""
        return "application/vnd.amazon.eventstream" if self.format == "bedrock" else "text/event-stream"

    def wire(self, lines: Sequence[str] | None = None, *, done: bool = True) -> list[bytes]:
        """Return the events as the provider sends them; `done` adds the sentinel of Chat Completions."""
        to_wire = _amazon_event if self.format == "bedrock" else self._sse_event
        pieces = [to_wire(line) for line in (self.lines if lines is None else lines)]
        return [*pieces, b"data: [DONE]\n\n"] if done and self.format == "chat" else pieces

    def lines_before_end(self) -> tuple[str, ...]:
        """Return the lines up to the first event that ends the answer."""
        for position, line in enumerate(self.lines):
            if _ends_answer(_parsed(line) or {}):
                return self.lines[:position]
        return self.lines

    def content(self) -> Content:
        """Return what the recording itself says."""
        if self.is_broken or self.format is None:
            return Content(fault="IncompleteStream")
        return streamed_content(self.format, self.events)

    def whole_response(self) -> Content | None:
        """Return the content of the whole response recorded beside the stream, if it is the same response."""
        path = self.path.with_name(f"{self.name}.json")
        response = _parsed(path.read_text(encoding="utf-8")) if path.exists() else None
        if response is None or self.is_broken or self.format is None:
            return None
        content = whole_content(self.format, response)
        streamed = self.content()
        same_id = response.get("id") is not None and response["id"] in _ids(self.events)
        same_usage = (content.input_tokens, content.output_tokens) == (streamed.input_tokens, streamed.output_tokens)
        return content if same_id and same_usage and not streamed.note else None

    def _sse_event(self, line: str) -> bytes:
        parsed, told = _parsed(line), _EVENT_NAME.search(line)
        # An event that is no JSON has a name nevertheless: on the wire it stands on a line of its own.
        event = parsed.get("type") if parsed is not None else told and told[1]
        head = f"event: {event}\n" if event and self.format != "chat" else ""
        return f"{head}data: {line}\n\n".encode()


def _amazon_event(line: str) -> bytes:
    name, payload = next(iter((_parsed(line) or {"contentBlockDelta": None}).items()))
    kind: Literal["event", "exception"] = "exception" if name.endswith("Exception") else "event"
    return event_frame(kind, name, line.encode() if payload is None else json.dumps(payload).encode())


def event_frame(kind: Literal["event", "exception"], name: str, payload: bytes) -> bytes:
    """Return one message of AWS's event stream.

    https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html
    """
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    head = b"".join(
        struct.pack("!B", len(key)) + key.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for key, value in headers.items()
    )
    lengths = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    message = lengths + struct.pack("!I", zlib.crc32(lengths)) + head + payload
    return message + struct.pack("!I", zlib.crc32(message))


def find_recordings(folder: Path) -> list[Recording]:
    """Return all recordings in a folder and below it, by path."""
    return [read_recording(path) for path in sorted(folder.rglob("*.chunks.txt"))]


def read_recording(path: Path) -> Recording:
    """Read a recording; its format shows in its events, else in its folder's name."""
    # Only a line feed ends an event: within its texts other separators may stand.
    lines = tuple(line for line in path.read_text(encoding="utf-8").split("\n") if line.lstrip().startswith("{"))
    return Recording(path, lines, _format_of(lines) or _FOLDERS.get(path.parent.name))


def _format_of(lines: Sequence[str]) -> WireFormat | None:
    for line in lines:
        event = _parsed(line) or {}
        kind = str(event.get("type", ""))
        if kind.startswith("response."):
            return "responses"
        if kind.startswith(("message_", "content_block_")):
            return "anthropic"
        if isinstance(event.get("choices"), list) and event.get("object") != "text_completion":
            return "chat"
        if event.keys() & _BEDROCK_EVENTS:
            return "bedrock"
    return None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _ends_answer(event: dict[str, Any]) -> bool:
    return (
        event.get("type") in ("message_stop", "response.completed", "response.incomplete", "response.failed", "error")
        or any(choice.get("finish_reason") for choice in event.get("choices") or ())
        or "error" in event
        or "messageStop" in event
    )


def _ids(events: list[dict[str, Any]]) -> set[str]:
    """Return the ids of the answer if the recording holds one answer only."""
    starts = [event["message"]["id"] for event in events if event.get("type") == "message_start"]
    responses = [event["response"]["id"] for event in events if "response" in event]
    completions = [event["id"] for event in events if event.get("choices")]
    found = {*starts, *responses, *completions}
    return found if len(found) == 1 else set()
