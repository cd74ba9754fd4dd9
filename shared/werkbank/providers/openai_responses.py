"""Our conversation and answers in the form of OpenAI's Responses API, the one that takes tools with reasoning.

Nothing is stored at OpenAI (`store: false`): reasoning comes back encrypted, is kept with the message and sent again
while the model works through its tools (https://developers.openai.com/api/docs/guides/reasoning).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from werkbank.ai.model import Capability, Model
from werkbank.ai.protocols import ChatRequest, Delta, StopReason, StreamEnd, TextDelta, ToolCallDelta
from werkbank.ai.tokens import estimate_usage
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.messages import Message, ToolDefinition, Usage
from werkbank.providers.base64_bytes import data_url
from werkbank.providers.call_names import allowed_id, allowed_name
from werkbank.providers.faults import fault

if TYPE_CHECKING:
    from openai.types.responses import (
        Response,
        ResponseFunctionToolCall,
        ResponseOutputItem,
        ResponseOutputMessage,
        ResponseStreamEvent,
        ResponseUsage,
        ToolParam,
    )
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
    from openai.types.responses.response_input_param import ResponseInputItemParam

_Item = dict[str, object]
_KEPT_ITEMS = frozenset({"reasoning", "message", "function_call"})
# Without a reason it is the limit that cut the answer: a filter always says so.
_STOP_REASONS: dict[str | None, StopReason] = {
    None: "length",
    "max_output_tokens": "length",
    "content_filter": "refusal",
}


def build_parameters(model: Model, request: ChatRequest) -> ResponseCreateParamsStreaming:
    """Return the parameters of `responses.create`; what the model refuses is left out (AI-04)."""
    parameters: ResponseCreateParamsStreaming = {
        "model": model.name,
        "input": [item for message in request.messages for item in _items(message, model)],
        "max_output_tokens": min(request.max_output_tokens, model.max_output_tokens),
        "store": False,
        "stream": True,
    }
    if model.can(Capability.REASONING):
        parameters["include"] = ["reasoning.encrypted_content"]
    if request.conversation and model.can(Capability.CACHING):
        # What was cached is found without it too, but not on every machine the request may be sent to.
        parameters["prompt_cache_key"] = request.conversation
    if request.temperature is not None and model.can(Capability.TEMPERATURE):
        parameters["temperature"] = request.temperature
    if request.tools:
        parameters["tools"] = _tools(request.tools)
        if not request.may_call_tools:
            parameters["tool_choice"] = "none"
    return parameters


def _tools(tools: Sequence[ToolDefinition]) -> list[ToolParam]:
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": cast("dict[str, object]", tool.parameters),
            "strict": False,
        }
        for tool in tools
    ]


def _items(message: Message, model: Model) -> list[ResponseInputItemParam]:
    if message.role == "tool":
        call_id = _call_id(message.tool_call_id)
        result = {"type": "function_call_output", "call_id": call_id, "output": _content(message)}
        return [cast("ResponseInputItemParam", result)]
    if message.role == "assistant":
        return cast("list[ResponseInputItemParam]", _kept_items(message, model) or _answer_items(message))
    role = "developer" if message.role == "system" else "user"
    return [cast("ResponseInputItemParam", {"role": role, "content": _content(message)})]


def _content(message: Message) -> str | list[_Item]:
    if not message.images:
        return message.content
    # The detail is named since the default can take five times the tokens that are reserved for a picture.
    images: list[_Item] = [
        {"type": "input_image", "image_url": data_url(image), "detail": "high"} for image in message.images
    ]
    return [*images, {"type": "input_text", "text": message.content}]


def _answer_items(message: Message) -> list[_Item]:
    text: list[_Item] = [{"role": "assistant", "content": message.content}] if message.content else []
    calls: list[_Item] = [
        {
            "type": "function_call",
            "call_id": _call_id(call.id),
            "name": allowed_name(call.name),
            "arguments": call.arguments or "{}",
        }
        for call in message.tool_calls
    ]
    return text + calls


def _call_id(call_id: str | None) -> str:
    return allowed_id(call_id, "(?s:.{1,64})")


def _kept_items(message: Message, model: Model) -> list[_Item]:
    """Return the output items exactly as this model gave them, if they still are the message's own calls."""
    kept = message.provider_data
    if kept is None or kept.get("model") != model.id:
        return []
    items = cast("list[_Item]", kept.get("items", []))
    calls = [item.get("call_id") for item in items if item.get("type") == "function_call"]
    return items if calls == [call.id for call in message.tool_calls] else []


class ResponsesReading:
    """Turns the events of one response into deltas. Item ids change within a stream; positions do not.

    A call counts from its arguments on: some servers (Perplexity) announce a call of their own in the same way, and end
    it as something else.
    """

    def __init__(self, model: Model, request: ChatRequest) -> None:
        self._model = model
        self._request = request
        self._response: Response | None = None
        self._refused = False
        self._announced: dict[int, ResponseFunctionToolCall] = {}
        self._calls: set[int] = set()
        self._streamed: set[int] = set()
        self._written: list[str] = []

    @property
    def is_complete(self) -> bool:
        """Tell whether the answer's end was seen."""
        return self._response is not None

    def take(self, event: ResponseStreamEvent) -> Iterator[Delta]:
        """Yield what the event adds to the answer. Raises the fault the provider reports in the stream."""
        if event.type in ("response.output_text.delta", "response.refusal.delta"):
            self._refused = self._refused or event.type == "response.refusal.delta"
            yield self._text(event.output_index, event.delta)
        elif event.type == "response.output_item.added" and event.item.type == "function_call":
            self._announced[event.output_index] = event.item
        elif event.type == "response.function_call_arguments.delta" and event.delta:
            yield self._arguments(event.output_index, event.delta, self._announced.get(event.output_index))
        elif event.type == "response.output_item.done":
            yield from self._settle(event.output_index, event.item)
        elif event.type in ("response.completed", "response.incomplete"):
            self._response = event.response
            yield from self._settle_all(event.response.output or ())
        elif event.type == "response.failed":
            error = event.response.error
            raise fault("OpenAI", None, [error and error.code], {}, error.message if error else "")
        elif event.type == "error":
            raise fault("OpenAI", None, [event.code], {}, event.message)

    def end(self) -> StreamEnd:
        """Return the end of the answer. Raises `IncompleteStream` when the terminal event never came."""
        if self._response is None:
            raise IncompleteStream("The model's answer was cut off.")
        usage = self._response.usage
        counted = _usage(usage) if usage is not None else estimate_usage(self._request, "".join(self._written))
        return StreamEnd(counted, self._stop_reason(self._response), self._kept(self._response))

    def _text(self, index: int, text: str) -> TextDelta:
        self._streamed.add(index)
        self._written.append(text)
        return TextDelta(text)

    def _arguments(self, index: int, arguments: str, item: ResponseFunctionToolCall | None) -> ToolCallDelta:
        self._streamed.add(index)
        self._calls.add(index)
        self._written.append(arguments)
        call_id, name = (item.call_id, item.name) if item else (None, None)
        return ToolCallDelta(index, call_id, name, arguments)

    def _settle_all(self, items: Sequence[ResponseOutputItem]) -> Iterator[Delta]:
        """Give an answer of which nothing came before its end."""
        if not self._streamed:
            for index, item in enumerate(items):
                yield from self._settle(index, item)

    def _settle(self, index: int, item: ResponseOutputItem) -> Iterator[Delta]:
        """Give what was not streamed: some servers send an item whole, at its end."""
        if index in self._streamed:
            return
        if item.type == "function_call":
            yield self._arguments(index, item.arguments, item)
        elif item.type == "message":
            yield from self._whole_text(index, item)

    def _whole_text(self, index: int, item: ResponseOutputMessage) -> Iterator[Delta]:
        for part in item.content or ():
            if part.type == "output_text":
                yield self._text(index, part.text)
            elif part.type == "refusal":
                self._refused = True
                yield self._text(index, part.refusal)

    def _stop_reason(self, response: Response) -> StopReason:
        reason = response.incomplete_details.reason if response.incomplete_details is not None else None
        if reason or response.status == "incomplete":
            return _STOP_REASONS.get(reason, "other")
        if self._calls:
            return "tool_calls"
        return "refusal" if self._refused else "stop"

    def _kept(self, response: Response) -> dict[str, JsonValue] | None:
        items = response.output or ()
        if all(item.type != "reasoning" for item in items):
            return None
        kept = [item.to_dict(exclude_none=True) for item in items if item.type in _KEPT_ITEMS]
        return {"model": self._model.id, "items": cast("JsonValue", kept)}


def _usage(usage: ResponseUsage) -> Usage:
    details = usage.input_tokens_details
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_input_tokens=(details.cached_tokens if details else None) or 0,
        cache_write_tokens=getattr(details, "cache_write_tokens", None) or 0,
    )
