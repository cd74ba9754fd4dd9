"""Tool calls as blocks in a model's text, for models that know no other way (AG-02):

    I look it up.
    <werkbank_call name="searchFiles">
    {"query": "rent"}
    </werkbank_call>

The tag bears our own name, so that no ordinary answer holds it, not even one that shows how models call tools; what
others wrote is disarmed before the model can copy it. After the calls nothing is read: a model that goes on has made
up their results.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from werkbank.ai.protocols import Delta, StreamEnd, TextDelta, ToolCallDelta

_PREFIX = "werkbank_"
_CLOSING = f"</{_PREFIX}call>"
# Models like to put a code fence around a block, or around the JSON in it; it is part of neither.
_FENCE = re.compile(r"`{3,}\w*")
_FENCE_AROUND = re.compile(r"\A`{3,}\w*\s*|\s*`{3,}\Z")
_TAG = re.compile(rf"(?:{_FENCE.pattern}\s*)?<(?P<slash>/?){_PREFIX}(?P<kind>\w*)(?P<attributes>[^<>]*)>")
# The end of a text that the next piece may make a tag of.
_BEGINNINGS = "|".join(_PREFIX[:length] for length in range(len(_PREFIX)))
_MAYBE_TAG = re.compile(
    rf"(?:{_FENCE.pattern}\s*)?</?(?:{_BEGINNINGS}|{_PREFIX}[^<>]*)\Z|{_FENCE.pattern}\s*\Z|`{{1,2}}\Z"
)
_NAME = re.compile(r"""name\s*=\s*["']?([^"'\s]+)""")
_NOT_IN_A_NAME = re.compile(r"""["'<>\s]""")
_LOOK_ALIKE = re.compile(rf"<(?=/?{_PREFIX})")


def call_block(name: str, arguments: str) -> str:
    """Write a call as it is read again. `arguments` is JSON text, valid or not."""
    return f'<{_PREFIX}call name="{_NOT_IN_A_NAME.sub("", name)}">\n{disarmed(arguments.strip()) or "{}"}\n{_CLOSING}'


def result_block(name: str, content: str, is_error: bool) -> str:
    """Write what a call came to."""
    status = ' status="failed"' if is_error else ""
    return f'<{_PREFIX}result name="{_NOT_IN_A_NAME.sub("", name)}"{status}>\n{disarmed(content)}\n</{_PREFIX}result>'


def disarmed(text: str) -> str:
    """Return a text in which nothing passes for a block, also when a model copies it."""
    return _LOOK_ALIKE.sub("‹", text)


def read_calls(
    deltas: Iterable[Delta], may_call: bool = True, end_after: Callable[[str], StreamEnd] | None = None
) -> Iterator[Delta]:
    """Turn the blocks in an answer's text into tool calls; the text outside passes, but for what may begin a tag.

    A block that the stream's end cuts off is a call with broken arguments, so that the model is told (AG-10). Without
    `may_call` blocks vanish. With `end_after` no more is read than counts: it gets all that came and gives the end.
    """
    reading = _Reading(may_call)
    came: list[str] = []
    for delta in deltas:
        match delta:
            case TextDelta(text):
                yield from reading.take(text)
                came.append(text)
                if reading.is_over and end_after:
                    yield from reading.end(end_after("".join(came)))
                    return
            case StreamEnd():
                yield from reading.end(delta)
            case ToolCallDelta():
                yield delta


class _Reading:
    """Where in an answer we are: outside all blocks, or inside the one whose tag's attributes are known.

    `is_over` when the model goes on behind its calls: nothing more of it counts.
    """

    def __init__(self, may_call: bool) -> None:
        self._may_call = may_call
        self._pending = ""
        self._searched = 0
        self._attributes: str | None = None
        self._calls = 0
        self.is_over = False

    def take(self, text: str) -> Iterator[Delta]:
        """Yield what is certain with this piece."""
        if not self.is_over:
            self._pending += text
        while not self.is_over:
            if self._attributes is not None:
                end = self._pending.find(_CLOSING, self._searched)
                if end < 0:
                    self._searched = max(0, len(self._pending) - len(_CLOSING))
                    return
                yield from self._leave(self._cut(end, len(_CLOSING)))
            elif tag := _TAG.search(self._pending):
                yield from self._outside(self._cut(tag.start(), len(tag[0])))
                yield from self._enter(tag)
            else:
                held = _MAYBE_TAG.search(self._pending)
                yield from self._outside(self._cut(held.start() if held else len(self._pending)))
                return

    def end(self, end: StreamEnd) -> Iterator[Delta]:
        """Yield what was held back, and the end as it is with the calls."""
        if self._attributes is None and _TAG.search(f"{self._pending}>"):
            yield from self.take(">")  # cut off within a tag
        reason = end.stop_reason
        if self._calls and self._may_call and not (self._attributes is not None and reason == "length"):
            reason = "tool_calls"
        if self._attributes is not None:
            # Nothing would count as no arguments: the call would be made without those it was to get.
            yield from self._leave(self._pending, if_empty="{")
        else:
            yield from self._outside(self._pending)
        # What a provider keeps of its answer holds the blocks as text, and would contradict the calls.
        yield replace(end, stop_reason=reason, provider_data=None)

    def _cut(self, length: int, skipped: int = 0) -> str:
        taken, self._pending = self._pending[:length], self._pending[length + skipped :]
        return taken

    def _outside(self, text: str) -> Iterator[Delta]:
        if self._calls:
            self.is_over = self.is_over or bool(_FENCE.sub("", text).strip())
        elif text and not self.is_over:
            yield TextDelta(disarmed(text))

    def _enter(self, tag: re.Match[str]) -> Iterator[Delta]:
        if self.is_over:
            return
        if tag["slash"]:
            yield from self._outside(" ")  # without a gap, what stands around it could make a tag
            return
        if tag["kind"] != "call":
            self.is_over = True  # the model plays our part
            return
        self._attributes, self._searched = tag["attributes"], 0
        if self._may_call:
            yield ToolCallDelta(self._calls)
        self._calls += 1

    def _leave(self, body: str, if_empty: str = "") -> Iterator[Delta]:
        attributes, self._attributes = self._attributes or "", None
        name, arguments = _named(attributes, _FENCE_AROUND.sub("", body.strip()) or if_empty)
        if self._may_call:
            yield ToolCallDelta(self._calls - 1, name=name, arguments=arguments)


def _named(attributes: str, body: str) -> tuple[str, str]:
    """Return the call's name and arguments; models trained on another form write the name into the JSON."""
    if named := _NAME.search(attributes):
        return named[1], body
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        return "", body
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return "", body
    return call["name"], json.dumps(call.get("arguments", {}))
