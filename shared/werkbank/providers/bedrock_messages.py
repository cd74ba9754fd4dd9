"""Our conversation in the form of Bedrock's Converse API.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict, cast

from werkbank.ai.model import Capability, Model
from werkbank.ai.protocols import ChatRequest
from werkbank.domain.media import Image
from werkbank.domain.messages import Message, ToolCall, ToolDefinition
from werkbank.providers.arguments import parsed_arguments
from werkbank.providers.bedrock_stream import from_json
from werkbank.providers.call_names import allowed_id, allowed_name
from werkbank.providers.prefix import Prefix

_Block = dict[str, object]
_CACHE_POINT: _Block = {"cachePoint": {"type": "default"}}


class Parameters(TypedDict, total=False):
    """The parameters of `converse_stream` that we use; `modelId` comes from the region."""

    messages: list[_Block]
    system: list[_Block]
    inferenceConfig: dict[str, int | float]
    toolConfig: dict[str, list[_Block]]


def build_parameters(model: Model, request: ChatRequest) -> tuple[Parameters, str]:
    """Return the parameters, and the fingerprint of the prompt in them; what the model refuses is left out (AI-04).

    Converse knows no way to offer tools and forbid their use, and refuses a history of tool calls without tools. So
    where none may be called, none is offered, and earlier calls and results are told as text.
    """
    offers_tools = bool(request.tools) and request.may_call_tools and model.can(Capability.TOOLS)
    caches = model.can(Capability.CACHING)
    system, turns = _split_system(request.messages)
    tools = [_tool(tool) for tool in request.tools] if offers_tools else []
    seen = Prefix(system, tools)
    parameters: Parameters = {
        "messages": _messages(turns, model, seen, calls=offers_tools, caches=caches),
        "inferenceConfig": {"maxTokens": min(request.max_output_tokens, model.max_output_tokens)},
    }
    if request.temperature is not None and model.can(Capability.TEMPERATURE):
        parameters["inferenceConfig"]["temperature"] = min(request.temperature, 1.0)
    if system:
        parameters["system"] = [{"text": system}, *([_CACHE_POINT] if caches else [])]
    if offers_tools:
        parameters["toolConfig"] = {"tools": tools}
    return parameters, seen.fingerprint


def _split_system(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """Part the leading system messages from the conversation: here they are a parameter of their own."""
    count = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    return "\n\n".join(message.content for message in messages[:count]), messages[count:]


def _tool(tool: ToolDefinition) -> _Block:
    schema = {"json": tool.parameters}
    return {"toolSpec": {"name": tool.name, "description": tool.description or tool.name, "inputSchema": schema}}


def _messages(messages: Sequence[Message], model: Model, seen: Prefix, *, calls: bool, caches: bool) -> list[_Block]:
    """Group the blocks of neighbours of one role: users and assistants must take turns.

    The cache point ends the last stable message: the newest may carry what changes with each call (AG-15). `seen` is
    what stands before the messages, and takes them as well.
    """
    grouped: list[tuple[str, list[_Block]]] = []
    for position, message in enumerate(messages):
        blocks = list(_blocks(message, model, seen) if calls else _told_blocks(message))
        seen.add(message.role, *blocks)
        if blocks and caches and position == len(messages) - 2 and "reasoningContent" not in blocks[-1]:
            blocks.append(_CACHE_POINT)
        role = "assistant" if message.role == "assistant" else "user"
        if grouped and grouped[-1][0] == role:
            grouped[-1][1].extend(blocks)
        elif blocks:
            grouped.append((role, blocks))
    return [{"role": role, "content": blocks} for role, blocks in grouped]


def _blocks(message: Message, model: Model, before: Prefix) -> Iterable[_Block]:
    if message.role == "tool":
        return [_result_block(message)]
    if message.role == "assistant":
        return _kept_blocks(message, model, before) or [*_text(message.content), *map(_call_block, message.tool_calls)]
    return _told_blocks(message)


def _told_blocks(message: Message) -> Iterable[_Block]:
    """Return the message as text alone."""
    if message.role == "tool":
        text = _text(f"Result of the tool call {message.tool_call_id}:\n{message.content}")
        return [*text, *map(_image_block, message.images)]
    if message.role == "system":
        # The API knows system text only at the start; what is injected later stands in the user's turn.
        return _text(message.content and f"<system>\n{message.content}\n</system>")
    if message.images:
        return [*map(_image_block, message.images), *_text(message.content)]
    told = (f"(Tool call {call.id}: {call.name} {call.arguments})" for call in message.tool_calls)
    return _text("\n".join(part for part in (message.content, *told) if part.strip()))


def _image_block(image: Image) -> _Block:
    return {"image": {"format": image.mime_type.removeprefix("image/"), "source": {"bytes": image.data}}}


def _text(text: str) -> list[_Block]:
    return [{"text": text}] if text.strip() else []


def _call_block(call: ToolCall) -> _Block:
    use = {"toolUseId": _call_id(call.id), "name": allowed_name(call.name), "input": parsed_arguments(call.arguments)}
    return {"toolUse": use}


def _call_id(call_id: str | None) -> str:
    return allowed_id(call_id, "[A-Za-z0-9_.:-]{1,64}")


def _result_block(message: Message) -> _Block:
    result = {
        "toolUseId": _call_id(message.tool_call_id),
        # An empty text is refused.
        "content": [{"text": message.content or "(empty)"}, *map(_image_block, message.images)],
        "status": "error" if message.is_error else "success",
    }
    return {"toolResult": result}


def _kept_blocks(message: Message, model: Model, before: Prefix) -> list[_Block]:
    """Return the answer as this model gave it (signed reasoning must come back untouched), if it still holds."""
    kept = message.provider_data
    if kept is None or kept.get("model") != model.id or not before.holds_for(kept):
        return []
    blocks = [from_json(block) for block in cast("list[_Block]", kept.get("content", []))]
    uses = [cast("_Block", block["toolUse"]).get("toolUseId") for block in blocks if "toolUse" in block]
    return blocks if uses == [call.id for call in message.tool_calls] else []
