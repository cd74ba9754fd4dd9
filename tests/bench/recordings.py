"""Recorded provider streams (`*.chunks.txt`, one raw event a line): as bytes on the wire, and what they say themselves.

The reading here shares no code with the adapters, so that the two can be compared. It goes by the events' own totals
where they have some (the whole response at the end, the last usage), and by adding up fragments where they have none.
"""

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

WireFormat = Literal["anthropic", "chat", "responses", "bedrock"]

_FOLDERS: dict[str, WireFormat] = {
    "anthropic": "anthropic",
    "openai-responses": "responses",
    "amazon-bedrock": "bedrock",
    **dict.fromkeys(
        ("openai-chat", "openai-compatible", "deepseek", "groq", "mistral", "moonshotai", "alibaba", "perplexity"),
        "chat",
    ),
}
_BEDROCK_EVENTS = {"messageStart", "contentBlockStart", "contentBlockDelta", "messageStop", "metadata"}
_REFUSING_CODES = {"insufficient_quota", "authentication_error", "permission_error", "billing_error", "invalid_api_key"}
_BEDROCK_FAULTS = {
    "throttlingException": "RateLimited",
    "validationException": "RequestRejected",
    "modelStreamErrorException": "ProviderUnavailable",
}
_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "stop": "stop",
    "tool_use": "tool_calls",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "max_tokens": "length",
    "length": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "content_filter": "refusal",
    "pause_turn": "pause",
    "malformed_tool_use": "tool_calls",
    "guardrail_intervened": "refusal",
    "content_filtered": "refusal",
}


@dataclass
class Content:
    """What an answer holds: text, calls as (id, name, arguments), tokens, why it ended – or the fault it must raise.

    Tokens are None where the recording tells none.
    """

    text: str = ""
    calls: list[tuple[str, str, object]] = field(default_factory=list)
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cached_tokens: int | None = 0
    stop: str = "other"
    fault: str | None = None
    note: str = ""


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
        if self.is_broken:
            return Content(fault="IncompleteStream")
        readings = {
            "anthropic": _anthropic_content,
            "chat": _chat_content,
            "responses": _responses_content,
            "bedrock": _bedrock_content,
        }
        return readings[str(self.format)](self.events)

    def whole_response(self) -> Content | None:
        """Return the content of the whole response recorded beside the stream, if it is the same response."""
        path = self.path.with_name(f"{self.name}.json")
        response = _parsed(path.read_text(encoding="utf-8")) if path.exists() else None
        if response is None or self.is_broken:
            return None
        content = _whole_content(self.format, response)
        streamed = self.content()
        same_id = response.get("id") is not None and response["id"] in _ids(self.events)
        same_usage = (content.input_tokens, content.output_tokens) == (streamed.input_tokens, streamed.output_tokens)
        return content if same_id and same_usage and not streamed.note else None

    def _sse_event(self, line: str) -> bytes:
        event = (_parsed(line) or {}).get("type")
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
    lines = tuple(line for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return Recording(path, lines, _format_of(lines) or _FOLDERS.get(path.parent.name))


def _format_of(lines: Sequence[str]) -> WireFormat | None:
    for line in lines:
        event = _parsed(line) or {}
        kind = str(event.get("type", ""))
        if kind.startswith("response."):
            return "responses"
        if kind.startswith(("message_", "content_block_")):
            return "anthropic"
        if isinstance(event.get("choices"), list):
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


def arguments_value(text: str) -> object:
    """Return what arguments mean, so that only a difference in meaning counts."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


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


def _fault_of(codes: Sequence[object]) -> str:
    return "ProviderRefused" if set(map(str, codes)) & _REFUSING_CODES else "ProviderUnavailable"


def _anthropic_content(events: list[dict[str, Any]]) -> Content:
    content = Content()
    usages: dict[str, dict[str, Any]] = {}
    message, blocks = "", dict[int, dict[str, Any]]()
    stop, has_end = "", False
    for event in events:
        match event["type"]:
            case "message_start":
                message, blocks, has_end = event["message"]["id"], {}, False
                usages.setdefault(message, {}).update(event["message"]["usage"])
                stop = event["message"].get("stop_reason") or stop
                _take_blocks(content, event["message"]["content"])
            case "content_block_start":
                block = blocks[event["index"]] = {**event["content_block"], "json": ""}
                content.text += block.get("text", "") if block["type"] == "text" else ""
            case "content_block_delta" if event["delta"]["type"] == "text_delta":
                content.text += event["delta"]["text"]
            case "content_block_delta" if event["delta"]["type"] == "input_json_delta":
                blocks[event["index"]]["json"] += event["delta"]["partial_json"]
            case "content_block_stop" if blocks[event["index"]]["type"] == "tool_use":
                block = blocks[event["index"]]
                value = arguments_value(block["json"]) if block["json"] else block["input"]
                content.calls.append((block["id"], block["name"], value))
            case "message_delta":
                stop = event["delta"].get("stop_reason") or stop
                usages[message].update({key: value for key, value in event["usage"].items() if value is not None})
            case "message_stop":
                has_end = True
            case "error":
                return Content(fault=_fault_of([event["error"].get("type")]))
    _add_anthropic_usage(content, list(usages.values()))
    content.stop = _STOPS.get(stop, "other")
    content.fault = None if has_end else "IncompleteStream"
    return content


def _take_blocks(content: Content, blocks: list[dict[str, Any]]) -> None:
    for block in blocks:
        if block["type"] == "text":
            content.text += block["text"]
        elif block["type"] == "tool_use":
            content.calls.append((block["id"], block["name"], block["input"]))


def _add_anthropic_usage(content: Content, usages: list[dict[str, Any]]) -> None:
    for usage in usages:
        cached = usage.get("cache_read_input_tokens") or 0
        written = usage.get("cache_creation_input_tokens") or 0
        content.input_tokens = (content.input_tokens or 0) + usage["input_tokens"] + cached + written
        content.cached_tokens = (content.cached_tokens or 0) + cached
        content.output_tokens = (content.output_tokens or 0) + usage["output_tokens"]


def _chat_content(events: list[dict[str, Any]]) -> Content:
    content = Content()
    calls: list[dict[str, str]] = []
    places: dict[object, dict[str, str]] = {}
    usage: dict[str, Any] = {}
    stop = ""
    for event in events:
        if event.get("error"):
            return Content(fault=_fault_of([event["error"].get("code"), event["error"].get("type")]))
        usage = event.get("usage") or usage
        for choice in event.get("choices", [])[:1]:
            stop = choice.get("finish_reason") or stop
            delta = choice.get("delta") or {}
            content.text += _chat_text(delta.get("content"))
            for call in delta.get("tool_calls") or ():
                place = call.get("index", call.get("id"))
                if place not in places:
                    places[place] = {"id": "", "name": "", "arguments": ""}
                    calls.append(places[place])
                known, function = places[place], call.get("function") or {}
                known["id"] = known["id"] or call.get("id") or ""
                known["name"] = known["name"] or function.get("name") or ""
                known["arguments"] += function.get("arguments") or ""
    content.calls = [(call["id"], call["name"], arguments_value(call["arguments"])) for call in calls]
    content.stop = _STOPS.get(stop, "other")
    content.fault = None if stop else "IncompleteStream"
    _add_chat_usage(content, usage)
    return content


def _chat_text(value: object) -> str:
    if isinstance(value, list):
        return "".join(part["text"] for part in value if part.get("type") == "text")
    return value if isinstance(value, str) else ""


def _add_chat_usage(content: Content, usage: dict[str, Any]) -> None:
    read, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    content.input_tokens = read
    content.output_tokens = written + reasoning if read + written + reasoning == usage.get("total_tokens") else written
    details = usage.get("prompt_tokens_details") or {}
    content.cached_tokens = (
        details.get("cached_tokens") or usage.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    )


def _bedrock_content(events: list[dict[str, Any]]) -> Content:
    content = Content(input_tokens=None, output_tokens=None, cached_tokens=None, note="tells no usage; counted instead")
    calls: dict[int, list[str]] = {}
    has_end = False
    for event in events:
        name, value = next(iter(event.items()))
        place = value.get("contentBlockIndex")
        match name:
            case "contentBlockStart" if "toolUse" in value["start"]:
                calls[place] = [value["start"]["toolUse"]["toolUseId"], value["start"]["toolUse"]["name"], ""]
            case "contentBlockDelta" if "toolUse" in value["delta"]:
                calls[place][2] += value["delta"]["toolUse"]["input"]
            case "contentBlockDelta":
                content.text += value["delta"].get("text", "")
            case "messageStop":
                content.stop, has_end = _STOPS.get(value["stopReason"], "other"), True
            case "metadata":
                _add_bedrock_usage(content, value["usage"])
            case "throttlingException" | "validationException" | "modelStreamErrorException":
                return Content(fault=_BEDROCK_FAULTS[name])
            case _ if name.endswith("Exception"):
                return Content(fault="ProviderUnavailable")
    content.calls = [(call_id, tool, arguments_value(arguments)) for call_id, tool, arguments in calls.values()]
    content.fault = None if has_end else "IncompleteStream"
    return content


def _add_bedrock_usage(content: Content, usage: dict[str, Any]) -> None:
    cached = usage.get("cacheReadInputTokens", 0)
    content.input_tokens = usage["inputTokens"] + cached + usage.get("cacheWriteInputTokens", 0)
    content.output_tokens, content.cached_tokens, content.note = usage["outputTokens"], cached, ""


def _responses_content(events: list[dict[str, Any]]) -> Content:
    for event in events:
        if event["type"] == "error":
            error = event.get("error") or event
            return Content(fault=_fault_of([error.get("code"), error.get("type")]))
        if event["type"] == "response.failed":
            return Content(fault=_fault_of([(event["response"].get("error") or {}).get("code")]))
        if event["type"] in ("response.completed", "response.incomplete"):
            return _as_streamed(_whole_response_content(event["response"]), events)
    return Content(fault="IncompleteStream")


def _as_streamed(content: Content, events: list[dict[str, Any]]) -> Content:
    """Prefer the text of the deltas where the end says another one: people have seen what was streamed."""
    streamed = "".join(
        event["delta"] for event in events if event["type"] in ("response.output_text.delta", "response.refusal.delta")
    )
    if streamed and streamed != content.text:
        content.text, content.note = streamed, "its end contradicts its deltas; what was streamed counts"
    return content


def _whole_response_content(response: dict[str, Any]) -> Content:
    content = Content()
    for item in response["output"]:
        if item["type"] == "message":
            content.text += "".join(part.get("text", part.get("refusal", "")) for part in item["content"])
        elif item["type"] == "function_call":
            content.calls.append((item["call_id"], item["name"], arguments_value(item["arguments"])))
    usage = response.get("usage") or {}
    content.input_tokens = usage.get("input_tokens", 0)
    content.output_tokens = usage.get("output_tokens", 0)
    content.cached_tokens = (usage.get("input_tokens_details") or {}).get("cached_tokens", 0)
    reason = (response.get("incomplete_details") or {}).get("reason")
    if reason:
        content.stop = "length" if reason == "max_output_tokens" else "refusal"
    else:
        content.stop = "tool_calls" if content.calls else "stop"
    return content


def _whole_content(format: WireFormat | None, response: dict[str, Any]) -> Content:
    """Read a whole response; an empty content for what is none (an error, another kind of answer)."""
    content = Content()
    if format == "anthropic" and "content" in response:
        _take_blocks(content, response["content"])
        _add_anthropic_usage(content, [response["usage"]])
        content.stop = _STOPS.get(response["stop_reason"], "other")
    elif format == "responses" and "output" in response:
        content = _whole_response_content(response)
    elif format == "chat" and "choices" in response:
        message = response["choices"][0]["message"]
        whole = {"delta": message, "finish_reason": response["choices"][0]["finish_reason"]}
        content = _chat_content([{"choices": [whole], "usage": response["usage"]}])
    return content
