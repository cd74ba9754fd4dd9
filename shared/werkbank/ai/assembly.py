"""Puts an answer together from its deltas, however they were cut (AI-06)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from werkbank.ai.characters import whole_characters
from werkbank.ai.protocols import AssembledAnswer, Delta, StreamEnd, TextDelta, ToolCallDelta
from werkbank.domain.characters import storable
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.ids import derived_id
from werkbank.domain.messages import Message, ToolCall


@dataclass(slots=True)
class _OpenCall:
    """A tool call whose pieces are still coming."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class AnswerAssembly:
    """Collects deltas in the order they come; `finish` gives the whole answer."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}
        self._by_id: dict[str, _OpenCall] = {}
        self._end: StreamEnd | None = None

    @property
    def text(self) -> str:
        """The text so far: what a stopped run keeps."""
        return "".join(self._text)

    @property
    def has_begun(self) -> bool:
        """Tell whether any of the answer has come: from then on the call costs money."""
        return bool(self._text or self._calls or self._end)

    def add(self, delta: Delta) -> None:
        """Take the next delta."""
        match delta:
            case TextDelta(text):
                self._text.append(text)
            case ToolCallDelta():
                self._add_call(delta)
            case StreamEnd():
                self._end = delta

    def finish(self) -> AssembledAnswer:
        """Return the whole answer. Raises `IncompleteStream` when its end never came."""
        if self._end is None:
            raise IncompleteStream("The model's answer was cut off.")
        message = Message(
            role="assistant",
            content=self.text,
            tool_calls=tuple(self._whole(position, call) for position, call in enumerate(self._calls)),
            provider_data=self._end.provider_data,
        )
        return AssembledAnswer(message, self._end.usage, self._end.stop_reason)

    def _add_call(self, delta: ToolCallDelta) -> None:
        call = self._call_of(delta)
        call.id = call.id or delta.id or ""
        # The whole name comes in one piece everywhere; later fragments repeat it, leave it out or send it empty.
        call.name = call.name or delta.name or ""
        call.arguments.append(delta.arguments)

    def _call_of(self, delta: ToolCallDelta) -> _OpenCall:
        if delta.index is not None:
            known = self._by_index.get(delta.index)
            return known if known and not _starts_another(known, delta) else self._open(delta)
        if delta.id:
            return self._by_id.get(delta.id) or self._open(delta)
        # Without index and id, a name starts a call and anything else continues the latest at its place.
        known = self._by_index.get(delta.place)
        return self._open(delta) if delta.name or known is None else known

    def _open(self, delta: ToolCallDelta) -> _OpenCall:
        call = _OpenCall()
        self._calls.append(call)
        self._by_index[delta.place if delta.index is None else delta.index] = call
        if delta.id:
            self._by_id[delta.id] = call
        return call

    def _whole(self, position: int, call: _OpenCall) -> ToolCall:
        arguments = storable("".join(call.arguments))
        # Some servers send no ids; ours must tell the calls of an answer apart, and the same answer the same way.
        return ToolCall(
            id=call.id or derived_id("call", str(position), call.name, arguments), name=call.name, arguments=arguments
        )


def _starts_another(known: _OpenCall, delta: ToolCallDelta) -> bool:
    """Tell whether a piece begins a new call under a used index, as some servers do with every call they send whole."""
    return bool(delta.name and delta.id and known.id and delta.id != known.id)


def assemble(deltas: Iterable[Delta]) -> AssembledAnswer:
    """Fold a whole stream into its answer. Raises `IncompleteStream` when the end is missing."""
    assembly = AnswerAssembly()
    for delta in whole_characters(deltas):
        assembly.add(delta)
    return assembly.finish()
