"""What a recorded answer holds by its own account: a reading for each wire format.

It shares no code with the adapters, so that the two can be compared. It goes by the events' own totals where they have
some (the whole response at the end, the last usage), and by adding up fragments where they have none.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

WireFormat = Literal["anthropic", "chat", "responses", "bedrock"]
_Wire = dict[str, Any]

_FAULTS = {
    word: fault
    for fault, words in {
        "ProviderRefused": """insufficient_quota authentication_error permission_error billing_error invalid_api_key
            401 402 403""",
        "RateLimited": "rate_limit_error rate_limit_exceeded requests tokens too_many_requests 429 throttlingException",
        "PromptTooLong": "context_length_exceeded request_too_large 413",
        "ModelNotFound": "not_found_error model_not_found 404",
        "RequestRejected": "invalid_prompt invalid_request_error 400 422 validationException",
    }.items()
    for word in words.split()
}
_TOO_LONG = re.compile("maximum context length|prompt is too long|too many input tokens|input is too long", re.I)
_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "stop": "stop",
    "tool_use": "tool_calls",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "length": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "content_filter": "refusal",
    "pause_turn": "pause",
    "malformed_tool_use": "tool_calls",
    "guardrail_intervened": "refusal",
    "content_filtered": "refusal",
}
_UNTOLD = "tells no usage; counted instead"
_CONTRADICTS = "its end contradicts its deltas; what was streamed counts"


@dataclass
class Content:
    """What an answer holds: text, calls as (id, name, arguments), tokens, why it ended – or the fault it must raise.

    Tokens are None and ids empty where the recording tells none.
    """

    text: str = ""
    calls: list[tuple[str, str, object]] = field(default_factory=list)
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    stop: str = "other"
    fault: str | None = None
    note: str = _UNTOLD

    def tell_usage(self, read: int, written: int, cached: int) -> None:
        """Set what the recording tells of its tokens; `read` counts the cached ones too."""
        self.input_tokens, self.output_tokens, self.cached_tokens, self.note = read, written, cached, ""


def streamed_content(format: WireFormat, events: list[_Wire]) -> Content:
    """Return what the events of a stream say."""
    readings = {
        "anthropic": _anthropic_content,
        "chat": _chat_content,
        "responses": _responses_content,
        "bedrock": _bedrock_content,
    }
    return readings[format](events)


def whole_content(format: WireFormat, response: _Wire) -> Content:
    """Return what a whole response says; an empty content for what is none (an error, another kind of answer)."""
    if format == "anthropic" and {"id", "content"} <= response.keys():
        start = {"type": "message_start", "message": response}
        return _anthropic_content([start, {"type": "message_stop"}])
    if format == "responses" and "output" in response:
        return _responses_content([{"type": "response.completed", "response": response}])
    choice: _Wire = next(iter(response.get("choices") or ()), {})
    if format == "chat" and "message" in choice:
        whole = {"delta": choice["message"], "finish_reason": choice.get("finish_reason")}
        return _chat_content([{"choices": [whole], "usage": response.get("usage")}])
    return Content()


def arguments_value(arguments: object) -> object:
    """Return what arguments mean, so that only a difference in meaning counts."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def _faulty(error: object) -> Content:
    told = error if isinstance(error, dict) else {"message": error}
    known = [_FAULTS[word] for word in (str(told.get("code")), str(told.get("type"))) if word in _FAULTS]
    fault = known[0] if known else "ProviderUnavailable"
    is_too_long = fault in ("RequestRejected", "ProviderUnavailable") and _TOO_LONG.search(str(told.get("message")))
    return Content(fault="PromptTooLong" if is_too_long else fault)


class _Messages:
    """One or more messages of Anthropic, one after another."""

    def __init__(self) -> None:
        self.content = Content(fault="IncompleteStream")
        self._message: object = None
        self._blocks: dict[int, _Wire] = {}
        self._usages: dict[object, _Wire] = {}

    def start(self, message: _Wire) -> bool:
        """Begin a message, which may hold its content already; tell whether it may begin here."""
        if message["id"] == self._message:
            return True
        if self._message is not None and self.content.fault is not None:
            return False
        self._message, self._blocks, self.content.fault = message["id"], {}, "IncompleteStream"
        self.tell({"stop_reason": message.get("stop_reason")}, message.get("usage"))
        for place, block in enumerate(message.get("content") or ()):
            self.open(place, block)
            self.close(place)
        return True

    def open(self, place: int, block: _Wire) -> None:
        """Begin a block."""
        self._blocks[place] = {**block, "json": ""}
        self.content.text += block.get("text", "") if block["type"] == "text" else ""

    def grow(self, place: int, delta: _Wire) -> None:
        """Add to a block."""
        self.content.text += delta["text"] if delta["type"] == "text_delta" else ""
        if delta["type"] == "input_json_delta":
            self._blocks[place]["json"] += delta["partial_json"]

    def close(self, place: int) -> None:
        """End a block: a call is whole now."""
        block = self._blocks.pop(place, {})
        if block.get("type") == "tool_use":
            value = arguments_value(block["json"]) if block["json"] else block["input"]
            self.content.calls.append((block["id"], block["name"], value))

    def tell(self, delta: _Wire, usage: _Wire | None) -> None:
        """Take the reason to stop and the tokens: each count replaces the message's earlier one."""
        if delta.get("stop_reason"):
            self.content.stop = _STOPS.get(delta["stop_reason"], "other")
        if usage:
            known = self._usages.setdefault(self._message, {})
            known.update({key: value for key, value in usage.items() if value is not None})

    def stop(self) -> None:
        """End the message."""
        for place in sorted(self._blocks):
            self.close(place)
        self.content.fault = None
        if self._usages:
            self._sum_up(list(self._usages.values()))

    def _sum_up(self, usages: list[_Wire]) -> None:
        def total(name: str) -> int:
            return sum(usage.get(name) or 0 for usage in usages)

        cached = total("cache_read_input_tokens")
        read = total("input_tokens") + cached + total("cache_creation_input_tokens")
        self.content.tell_usage(read, total("output_tokens"), cached)


def _anthropic_content(events: list[_Wire]) -> Content:
    messages = _Messages()
    for event in events:
        match event["type"]:
            case "message_start" if not messages.start(event["message"]):
                # One message cuts off another.
                return Content(fault="IncompleteStream")
            case "content_block_start":
                messages.open(event["index"], event["content_block"])
            case "content_block_delta":
                messages.grow(event["index"], event["delta"])
            case "content_block_stop":
                messages.close(event["index"])
            case "message_delta":
                messages.tell(event["delta"], event.get("usage"))
            case "message_stop":
                messages.stop()
            case "error":
                return _faulty(event["error"])
    return messages.content


class _Completion:
    """A chat completion as its chunks add up; of several choices the first."""

    def __init__(self) -> None:
        self.content = Content(fault="IncompleteStream")
        self._calls: list[_Wire] = []
        self._places: dict[object, _Wire] = {}
        self._refuses = False

    def take(self, choice: _Wire) -> None:
        """Add a choice's delta."""
        if choice.get("finish_reason"):
            self.content.stop, self.content.fault = _STOPS.get(choice["finish_reason"], "other"), None
        delta = choice.get("delta") or {}
        self.content.text += _chat_text(delta.get("content")) + (delta.get("refusal") or "")
        self._refuses = self._refuses or bool(delta.get("refusal"))
        for place, call in enumerate(delta.get("tool_calls") or ()):
            self._add(self._call_of(call, place), call.get("id"), call.get("function") or {})
        if delta.get("function_call"):
            self._add(self._call_of({"index": 0}, 0), None, delta["function_call"])

    def finish(self, usage: _Wire) -> Content:
        """Return what all of it says."""
        self.content.calls = [(call["id"], call["name"], arguments_value(call["arguments"])) for call in self._calls]
        self.content.stop = "refusal" if self._refuses else self.content.stop
        if usage:
            _tell_chat_usage(self.content, usage)
        return self.content

    def _call_of(self, call: _Wire, place: int) -> _Wire:
        """Find the call a piece belongs to: by its index, else its id, else its place among the pieces."""
        index, call_id = call.get("index"), call.get("id")
        by_id = self._places.get(call_id) if call_id and index is None else None
        known = by_id or self._places.get(place if index is None else index)
        is_other = known is not None and call_id and known["id"] not in ("", call_id) and (call["function"].get("name"))
        if known is None or is_other:
            known = {"id": "", "name": "", "arguments": ""}
            self._calls.append(known)
            self._places[place if index is None else index] = self._places[call_id] = known
        return known

    @staticmethod
    def _add(known: _Wire, call_id: str | None, function: _Wire) -> None:
        known["id"] = known["id"] or call_id or ""
        known["name"] = known["name"] or function.get("name") or ""
        piece = function.get("arguments") or ""
        known["arguments"] = known["arguments"] + piece if isinstance(piece, str) else piece


def _chat_content(events: list[_Wire]) -> Content:
    completion = _Completion()
    usage: _Wire = {}
    for event in events:
        if event.get("error"):
            return _faulty(event["error"])
        usage = event.get("usage") or (event.get("x_groq") or {}).get("usage") or usage
        for choice in event.get("choices") or ():
            if not choice.get("index"):
                usage = choice.get("usage") or usage
                completion.take(choice)
    return completion.finish(usage)


def _chat_text(value: object) -> str:
    if isinstance(value, list):
        return "".join(part["text"] for part in value if part.get("type") == "text")
    return value if isinstance(value, str) else ""


def _tell_chat_usage(content: Content, usage: _Wire) -> None:
    read, written = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    # Some count the reasoning apart, which their total shows.
    is_apart = read + written + reasoning == usage.get("total_tokens")
    details = usage.get("prompt_tokens_details") or {}
    places = (details, "cached_tokens"), (usage, "cached_tokens"), (usage, "prompt_cache_hit_tokens")
    cached = [place.get(name) for place, name in (*places, (usage, "num_cached_tokens"))]
    content.tell_usage(read, written + (reasoning if is_apart else 0), next(filter(None, cached), 0))


def _bedrock_content(events: list[_Wire]) -> Content:
    content = Content(fault="IncompleteStream")
    calls: dict[int, list[str]] = {}
    for event in events:
        name, value = next(iter(event.items()))
        if name.endswith("Exception"):
            return _faulty({"code": name})
        place = value.get("contentBlockIndex")
        match name:
            case "contentBlockStart" if "type" not in (use := value["start"].get("toolUse") or {"type": "none"}):
                calls[place] = [use["toolUseId"], use["name"], ""]
            case "contentBlockDelta" if "toolUse" in value["delta"] and place in calls:
                calls[place][2] += value["delta"]["toolUse"]["input"]
            case "contentBlockDelta":
                content.text += value["delta"].get("text", "")
            case "messageStop":
                content.stop, content.fault = _STOPS.get(value["stopReason"], "other"), None
            case "metadata" if value.get("usage"):
                _tell_bedrock_usage(content, value["usage"])
    content.calls = [(call_id, tool, arguments_value(arguments)) for call_id, tool, arguments in calls.values()]
    return content


def _tell_bedrock_usage(content: Content, usage: dict[str, int]) -> None:
    cached = usage.get("cacheReadInputTokens", 0)
    read = usage["inputTokens"] + cached + usage.get("cacheWriteInputTokens", 0)
    content.tell_usage(read, usage["outputTokens"], cached)


def _responses_content(events: list[_Wire]) -> Content:
    for event in events:
        if event["type"] == "error":
            return _faulty(event.get("error") or event)
        if event["type"] == "response.failed":
            return _faulty(event["response"].get("error"))
        if event["type"] in ("response.completed", "response.incomplete"):
            return _ended_content(event["response"], events)
    return Content(fault="IncompleteStream")


def _ended_content(response: _Wire, events: list[_Wire]) -> Content:
    """Read the end of a response; where it lists other calls or another text than was streamed, the stream counts."""
    content = Content()
    text, calls, refuses = _read_items(response.get("output") or ())
    usage = response.get("usage")
    if usage:
        cached = (usage.get("input_tokens_details") or {}).get("cached_tokens") or 0
        content.tell_usage(usage.get("input_tokens") or 0, usage.get("output_tokens") or 0, cached)
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    streamed_text, streamed_calls, _ = _read_items(done)
    deltas = ("response.output_text.delta", "response.refusal.delta")
    streamed_text = "".join(event["delta"] for event in events if event["type"] in deltas) or streamed_text
    if (streamed_text or text, streamed_calls or calls) != (text, calls):
        text, calls, content.note = streamed_text or text, streamed_calls or calls, _CONTRADICTS
    content.text, content.calls = text, calls
    content.stop = _responses_stop(response, content, refuses=refuses)
    return content


def _read_items(items: Any) -> tuple[str, list[tuple[str, str, object]], bool]:
    """Return the text of the messages, the calls, and whether a message refuses."""
    messages = (item.get("content") or () for item in items if item["type"] == "message")
    parts = [part for message in messages for part in message]
    text = "".join(part.get("text", part.get("refusal", "")) for part in parts)
    made = (item for item in items if item["type"] == "function_call")
    calls: list[tuple[str, str, object]] = [
        (item["call_id"], item["name"], arguments_value(item["arguments"])) for item in made
    ]
    return text, calls, any(part["type"] == "refusal" for part in parts)


def _responses_stop(response: _Wire, content: Content, *, refuses: bool) -> str:
    reason = (response.get("incomplete_details") or {}).get("reason")
    if reason:
        return _STOPS.get(reason, "other")
    if content.calls:
        return "tool_calls"
    return "refusal" if refuses else "stop"
