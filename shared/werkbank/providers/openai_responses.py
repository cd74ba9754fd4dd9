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
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.messages import Message, ToolDefinition, Usage
from werkbank.providers.base64_bytes import data_url
from werkbank.providers.call_names import allowed_id, allowed_name
from werkbank.providers.faults import fault

if TYPE_CHECKING:
    from openai.types.responses import Response, ResponseOutputItem, ResponseStreamEvent, ResponseUsage, ToolParam
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
    from openai.types.responses.response_input_param import ResponseInputItemParam

_Item = dict[str, object]
_KEPT_ITEMS = frozenset({"reasoning", "message", "function_call"})


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
        result = {"type": "function_call_output", "call_id": call_id, "output": message.content}
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
    """Turns the events of one response into deltas. Item ids change within a stream; positions do not."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._response: Response | None = None
        self._refused = False
        self._announced: set[int] = set()
        self._streamed: set[int] = set()

    @property
    def is_complete(self) -> bool:
        """Tell whether the answer's end was seen."""
        return self._response is not None

    def take(self, event: ResponseStreamEvent) -> Iterator[Delta]:
        """Yield what the event adds to the answer. Raises the fault the provider reports in the stream."""
        if event.type in ("response.output_text.delta", "response.refusal.delta"):
            self._refused = self._refused or event.type == "response.refusal.delta"
            self._streamed.add(event.output_index)
            yield TextDelta(event.delta)
        elif event.type == "response.output_item.added":
            yield from self._announce(event.output_index, event.item)
        elif event.type == "response.function_call_arguments.delta" and event.delta:
            self._streamed.add(event.output_index)
            yield ToolCallDelta(index=event.output_index, arguments=event.delta)
        elif event.type == "response.output_item.done":
            yield from self._settle(event.output_index, event.item)
        elif event.type in ("response.completed", "response.incomplete"):
            self._response = event.response
        elif event.type == "response.failed":
            error = event.response.error
            raise fault("OpenAI", None, [error and error.code], {}, error.message if error else "")
        elif event.type == "error":
            raise fault("OpenAI", None, [event.code], {}, event.message)

    def end(self) -> StreamEnd:
        """Return the end of the answer. Raises `IncompleteStream` when the terminal event never came."""
        if self._response is None:
            raise IncompleteStream("The model's answer was cut off.")
        return StreamEnd(_usage(self._response.usage), self._stop_reason(self._response), self._kept(self._response))

    def _announce(self, index: int, item: ResponseOutputItem) -> Iterator[Delta]:
        if item.type == "function_call" and index not in self._announced:
            self._announced.add(index)
            yield ToolCallDelta(index=index, id=item.call_id, name=item.name)

    def _settle(self, index: int, item: ResponseOutputItem) -> Iterator[Delta]:
        """Give what was not streamed: some servers send an item whole, at its end."""
        if item.type == "function_call":
            yield from self._announce(index, item)
            if index not in self._streamed:
                yield ToolCallDelta(index=index, arguments=item.arguments)
        elif item.type == "message" and index not in self._streamed:
            for part in item.content:
                yield TextDelta(part.text if part.type == "output_text" else part.refusal)

    def _stop_reason(self, response: Response) -> StopReason:
        reason = response.incomplete_details.reason if response.incomplete_details is not None else None
        if reason or response.status == "incomplete":
            # Without a reason it is the limit that cut the answer: a filter always says so.
            return "length" if reason in ("max_output_tokens", None) else "refusal"
        if self._announced:
            return "tool_calls"
        return "refusal" if self._refused else "stop"

    def _kept(self, response: Response) -> dict[str, JsonValue] | None:
        if all(item.type != "reasoning" for item in response.output):
            return None
        items = [item.to_dict(exclude_none=True) for item in response.output if item.type in _KEPT_ITEMS]
        return {"model": self._model.id, "items": cast("JsonValue", items)}


def _usage(usage: ResponseUsage | None) -> Usage:
    if usage is None:
        return Usage()
    details = usage.input_tokens_details
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_input_tokens=(details.cached_tokens if details else None) or 0,
        cache_write_tokens=getattr(details, "cache_write_tokens", None) or 0,
    )
