"""Reads the events of Bedrock's ConverseStream.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html – met in recordings: text
blocks that are never started nor stopped, a start of nothing, usage before or after the stop, and none at all.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import cast

from pydantic import JsonValue

from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta, StopReason, StreamEnd, TextDelta, ToolCallDelta
from werkbank.ai.tokens import estimate_usage
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.messages import Usage
from werkbank.providers.arguments import parsed_arguments

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "malformed_tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "refusal",
    "content_filtered": "refusal",
}
_Event = Mapping[str, object]


class _Block:
    """A content block as it grows."""

    def __init__(self) -> None:
        self.call: int | None = None
        self.use: dict[str, object] = {}
        self.text: list[str] = []
        self.thought: list[str] = []
        self.signature = ""
        self.redacted = b""

    def wire(self) -> dict[str, object]:
        """Return the block in the API's form, as JSON."""
        if self.call is not None:
            return {"toolUse": {**self.use, "input": parsed_arguments("".join(self.text))}}
        if self.redacted:
            return {"reasoningContent": {"redactedContent": base64.b64encode(self.redacted).decode()}}
        if self.thought or self.signature:
            thought = {"text": "".join(self.thought), **({"signature": self.signature} if self.signature else {})}
            return {"reasoningContent": {"reasoningText": thought}}
        return {"text": "".join(self.text)}


def from_json(block: Mapping[str, object]) -> dict[str, object]:
    """Return a block of `provider_data` as boto3 takes it: redacted reasoning is bytes."""
    reasoning = cast("_Event", block.get("reasoningContent", {}))
    if "redactedContent" not in reasoning:
        return dict(block)
    return {"reasoningContent": {"redactedContent": base64.b64decode(str(reasoning["redactedContent"]))}}


class ConverseReading:
    """Turns the events of one call into deltas; `prefix` is the fingerprint of the prompt it answers."""

    def __init__(self, model: Model, request: ChatRequest, prefix: str) -> None:
        self._model = model
        self._request = request
        self._prefix = prefix
        self._blocks: dict[int, _Block] = {}
        self._calls = 0
        self._stop_reason: str | None = None
        self._usage: Usage | None = None

    @property
    def is_complete(self) -> bool:
        """Tell whether the answer's end was seen."""
        return self._stop_reason is not None

    def take(self, event: _Event) -> Iterator[Delta]:
        """Yield what the event adds to the answer."""
        for kind, value in event.items():
            content = cast("_Event", value)
            if kind == "contentBlockStart":
                yield from self._start(self._block(content), cast("_Event", content.get("start") or {}))
            elif kind == "contentBlockDelta":
                yield from self._grow(self._block(content), cast("_Event", content.get("delta") or {}))
            elif kind == "messageStop":
                self._stop_reason = str(content.get("stopReason"))
            elif kind == "metadata" and content.get("usage"):
                self._usage = _usage(cast("Mapping[str, int]", content["usage"]))

    def end(self) -> StreamEnd:
        """Return the end of the answer. Raises `IncompleteStream` when `messageStop` never came."""
        if self._stop_reason is None:
            raise IncompleteStream("The model's answer was cut off.")
        return StreamEnd(self._counted_usage(), _STOP_REASONS.get(self._stop_reason, "other"), self._kept())

    def _block(self, content: _Event) -> _Block:
        index = content.get("contentBlockIndex")
        if not isinstance(index, int):
            # What boto3 makes of an event that is no JSON.
            raise IncompleteStream("The model's answer cannot be read.")
        return self._blocks.setdefault(index, _Block())

    def _start(self, block: _Block, start: _Event) -> Iterator[Delta]:
        use = cast("_Event", start.get("toolUse") or {})
        # What a server tool (`type` is set) did is no call of ours.
        if use and not use.get("type"):
            block.call, self._calls = self._calls, self._calls + 1
            block.use = {"toolUseId": use.get("toolUseId"), "name": use.get("name")}
            yield ToolCallDelta(index=block.call, id=str(use.get("toolUseId", "")), name=str(use.get("name", "")))

    def _grow(self, block: _Block, delta: _Event) -> Iterator[Delta]:
        reasoning = cast("_Event", delta.get("reasoningContent") or {})
        if thought := str(reasoning.get("text", "")):
            block.thought.append(thought)
        block.signature += str(reasoning.get("signature", ""))
        block.redacted += cast("bytes", reasoning.get("redactedContent", b""))
        if text := str(delta.get("text", "")):
            block.text.append(text)
            yield TextDelta(text)
        fragment = str(cast("_Event", delta.get("toolUse") or {}).get("input", ""))
        if fragment and block.call is not None:
            block.text.append(fragment)
            yield ToolCallDelta(index=block.call, arguments=fragment)

    def _counted_usage(self) -> Usage:
        if self._usage is not None:
            return self._usage
        # The usage is its own event after the end and can get lost.
        written = "".join(piece for block in self._blocks.values() for piece in (*block.text, *block.thought))
        return estimate_usage(self._request, written)

    def _kept(self) -> dict[str, JsonValue] | None:
        """Return the blocks as they came where there was reasoning, which the model wants back."""
        blocks = (block.wire() for _, block in sorted(self._blocks.items()))
        # An empty text is refused when it comes back.
        content = [block for block in blocks if str(block.get("text", "-")).strip()]
        if all("reasoningContent" not in block for block in content):
            return None
        return {"model": self._model.id, "prefix": self._prefix, "content": cast("JsonValue", content)}


def _usage(usage: Mapping[str, int]) -> Usage:
    cached, written = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0)
    return Usage(
        # Like Anthropic, Bedrock leaves what came from the cache or went into it out of the input.
        input_tokens=usage.get("inputTokens", 0) + cached + written,
        output_tokens=usage.get("outputTokens", 0),
        cached_input_tokens=cached,
        cache_write_tokens=written,
    )
