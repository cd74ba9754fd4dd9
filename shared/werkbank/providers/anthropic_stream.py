"""Reads Anthropic's stream events (https://platform.claude.com/docs/en/build-with-claude/streaming).

More arrives than was asked for: server tools, fallback marks, messages whose content is already in `message_start`, one
message after another. What is not text or a tool call of ours is kept for the provider and otherwise ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta, StopReason, StreamEnd, TextDelta, ToolCallDelta
from werkbank.ai.tokens import estimate_usage
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.messages import Usage
from werkbank.providers.arguments import parsed_arguments

if TYPE_CHECKING:
    from anthropic.types import Message, MessageDeltaUsage, RawContentBlockDelta, RawMessageStreamEvent
    from anthropic.types import Usage as StartUsage

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
}
_PLAIN_BLOCKS = frozenset({"text", "tool_use"})


@dataclass(slots=True)
class _Tokens:
    """The latest counts of one message; every event repeats them whole."""

    fresh: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0

    def update(self, usage: StartUsage | MessageDeltaUsage) -> None:
        self.fresh = self.fresh if usage.input_tokens is None else usage.input_tokens
        self.cached = usage.cache_read_input_tokens or self.cached
        self.written = usage.cache_creation_input_tokens or self.written
        self.output = usage.output_tokens or self.output


class _Block:
    """A content block as it grows: the provider's own form, and the call number if it is a call of ours."""

    def __init__(self, wire: dict[str, object], call: int | None) -> None:
        self.wire = {key: value for key, value in wire.items() if value is not None}
        self.kind = str(wire.get("type"))
        self.call = call
        self.partial: list[str] = []

    def close(self) -> Iterator[Delta]:
        """Settle the block's input; a call that streamed none (it has no arguments, or came whole) gives it now."""
        streamed = "".join(self.partial)
        if streamed:
            self.wire["input"] = parsed_arguments(streamed)
        elif self.call is not None:
            yield ToolCallDelta(index=self.call, arguments=json.dumps(self.wire.get("input") or {}))


class AnthropicReading:
    """Turns the events of one call into deltas; `prefix` is the fingerprint of the prompt it answers.

    With `shows_notes` the call asked for notes between tool calls: then these are all that stands in thinking blocks
    (https://platform.claude.com/docs/en/build-with-claude/thinking#progress-updates), and they are for whoever watches.
    """

    def __init__(self, model: Model, request: ChatRequest, prefix: str, *, shows_notes: bool) -> None:
        self.is_complete = False
        self._model = model
        self._request = request
        self._prefix = prefix
        self._shown = {"text", "thinking"} if shows_notes else {"text"}
        self._latest_said: _Block | None = None
        self._message_id: str | None = ""
        self._blocks: list[_Block] = []
        self._open: dict[int, _Block] = {}
        self._calls = 0
        self._tokens: dict[str | None, _Tokens] = {}
        self._stop_reason: str | None = None

    def take(self, event: RawMessageStreamEvent) -> Iterator[Delta]:
        """Yield what the event adds to the answer."""
        if event.type == "message_start":
            yield from self._start(event.message)
        elif event.type == "content_block_start":
            yield from self._open_block(event.index, event.content_block.to_dict())
        elif event.type == "content_block_delta":
            yield from self._grow(event.index, event.delta)
        elif event.type == "content_block_stop":
            yield from self._close_block(event.index)
        elif event.type == "message_delta":
            self._stop_reason = event.delta.stop_reason or self._stop_reason
            self._count(event.usage)
        elif event.type == "message_stop":
            for index in list(self._open):
                yield from self._close_block(index)
            self.is_complete = True

    def end(self) -> StreamEnd:
        """Return the end of the answer. Raises `IncompleteStream` when `message_stop` never came."""
        if not self.is_complete:
            raise IncompleteStream("The model's answer was cut off.")
        return StreamEnd(self._usage(), _STOP_REASONS.get(self._stop_reason or "", "other"), self._kept())

    def _usage(self) -> Usage:
        counts = self._tokens.values()
        if not counts:
            return estimate_usage(self._request, json.dumps([block.wire for block in self._blocks]))
        return Usage(
            input_tokens=sum(tokens.fresh + tokens.cached + tokens.written for tokens in counts),
            output_tokens=sum(tokens.output for tokens in counts),
            cached_input_tokens=sum(tokens.cached for tokens in counts),
            cache_write_tokens=sum(tokens.written for tokens in counts),
        )

    def _start(self, message: Message) -> Iterator[Delta]:
        if message.id == self._message_id:
            # A repeated start says nothing new.
            return
        if self._message_id and not self.is_complete:
            raise IncompleteStream("The model's answer was cut off by another one.")
        # Every message counts its blocks from 0.
        self._message_id, self._open, self.is_complete = message.id, {}, False
        for index, block in enumerate(message.content or ()):
            yield from self._open_block(index, block.to_dict())
            yield from self._close_block(index)
        self._stop_reason = message.stop_reason or self._stop_reason
        self._count(message.usage)

    def _open_block(self, index: int, wire: dict[str, object]) -> Iterator[Delta]:
        is_call = wire.get("type") == "tool_use"
        block = _Block(wire, self._calls if is_call else None)
        self._open[index] = block
        self._blocks.append(block)
        if is_call:
            self._calls += 1
            yield ToolCallDelta(index=block.call, id=str(wire.get("id", "")), name=str(wire.get("name", "")))
        else:
            yield from self._say(block, str(wire.get(block.kind) or ""))

    def _grow(self, index: int, delta: RawContentBlockDelta) -> Iterator[Delta]:
        if index not in self._open:
            yield from self._open_block(index, {"type": "text", "text": ""})
        block = self._open[index]
        if delta.type == "text_delta":
            _append(block.wire, "text", delta.text)
            yield from self._say(block, delta.text)
        elif delta.type == "input_json_delta" and delta.partial_json:
            block.partial.append(delta.partial_json)
            if block.call is not None:
                yield ToolCallDelta(index=block.call, arguments=delta.partial_json)
        elif delta.type == "thinking_delta":
            _append(block.wire, "thinking", delta.thinking)
            yield from self._say(block, delta.thinking)
        elif delta.type == "signature_delta":
            _append(block.wire, "signature", delta.signature)
        elif delta.type == "citations_delta":
            citations = cast("list[object]", block.wire.setdefault("citations", []))
            citations.append(delta.citation.to_dict())

    def _say(self, block: _Block, text: str) -> Iterator[Delta]:
        """Yield what a block says to whoever watches; a note is a paragraph of its own."""
        if not text or block.kind not in self._shown:
            return
        before, self._latest_said = self._latest_said, block
        if before is not None and before is not block and "thinking" in (before.kind, block.kind):
            yield TextDelta("\n\n")
        yield TextDelta(text)

    def _close_block(self, index: int) -> Iterator[Delta]:
        block = self._open.pop(index, None)
        if block is not None:
            yield from block.close()

    def _count(self, usage: StartUsage | MessageDeltaUsage | None) -> None:
        if usage is not None:
            self._tokens.setdefault(self._message_id, _Tokens()).update(usage)

    def _kept(self) -> dict[str, JsonValue] | None:
        """Return the blocks as they came, where text and calls alone would lose something the provider wants back."""
        content = [block.wire for block in self._blocks]
        if all(block.get("type") in _PLAIN_BLOCKS for block in content):
            return None
        return {"model": self._model.id, "prefix": self._prefix, "content": cast("JsonValue", content)}


def _append(wire: dict[str, object], key: str, text: str) -> None:
    wire[key] = f"{wire.get(key, '')}{text}"
