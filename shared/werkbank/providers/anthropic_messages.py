"""Our conversation in the form of Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from werkbank.ai.model import Capability, Model
from werkbank.ai.protocols import ChatRequest
from werkbank.domain.media import Image
from werkbank.domain.messages import Message, ToolDefinition
from werkbank.providers.arguments import parsed_arguments
from werkbank.providers.base64_bytes import encoded
from werkbank.providers.call_names import allowed_id, allowed_name
from werkbank.providers.prefix import Prefix

if TYPE_CHECKING:
    from anthropic.types import MessageParam, TextBlockParam, ThinkingConfigParam, ToolParam
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

_Block = dict[str, object]
_CACHE_MARK: _Block = {"type": "ephemeral"}


def build_parameters(model: Model, request: ChatRequest) -> tuple[MessageCreateParamsStreaming, str]:
    """Return the parameters of `messages.create`, and the fingerprint of the prompt in them.

    Current Claude models refuse a temperature, so none is sent (AI-04).

    Notes on what is being done between tool calls come empty, in the place of thinking, unless `display` asks for them;
    what was thought stays hidden either way.

    Cache breakpoints end the tools, the system prompt and the last stable message: every message but the newest, which
    may carry what changes with each call (the time of day, AG-15).
    """
    system, turns = _split_system(request.messages)
    seen = Prefix(system, [_tool(tool) for tool in request.tools])
    parameters: MessageCreateParamsStreaming = {
        "model": model.name,
        "max_tokens": min(request.max_output_tokens, model.max_output_tokens),
        "messages": _messages(turns, model, seen),
        "stream": True,
    }
    if system:
        parameters["system"] = [_system_block(system)]
    if request.tools:
        parameters["tools"] = _tools(request.tools)
        if not request.may_call_tools:
            parameters["tool_choice"] = {"type": "none"}
        if model.can(Capability.NOTES):
            # The SDK knows this value in its beta namespace only.
            parameters["thinking"] = cast("ThinkingConfigParam", {"type": "adaptive", "display": "updates"})
    return parameters, seen.fingerprint


def _split_system(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """Part the leading system messages from the conversation: here they are a parameter of their own."""
    count = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    return "\n\n".join(message.content for message in messages[:count]), messages[count:]


def _system_block(text: str) -> TextBlockParam:
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


def _tools(tools: Sequence[ToolDefinition]) -> list[ToolParam]:
    offered = [cast("ToolParam", _tool(tool)) for tool in tools]
    offered[-1]["cache_control"] = {"type": "ephemeral"}
    return offered


def _tool(tool: ToolDefinition) -> _Block:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _messages(messages: Sequence[Message], model: Model, seen: Prefix) -> list[MessageParam]:
    """Group the blocks of neighbours of one role: tool results and what the user says next are one user message.

    `seen` is what stands before them, and takes them as well.
    """
    grouped: list[tuple[str, list[_Block]]] = []
    for position, message in enumerate(messages):
        blocks = list(_blocks(message, model, seen))
        if not blocks:
            continue
        role = "assistant" if message.role == "assistant" else "user"
        seen.add(role, *blocks)
        if position == len(messages) - 2:
            _mark_for_cache(blocks)
        if grouped and grouped[-1][0] == role:
            grouped[-1][1].extend(blocks)
        else:
            grouped.append((role, blocks))
    return [cast("MessageParam", {"role": role, "content": blocks}) for role, blocks in grouped]


def _mark_for_cache(blocks: list[_Block]) -> None:
    # Thinking blocks take no breakpoint; their message is then covered by the next round's.
    if blocks[-1]["type"] in ("text", "tool_use", "tool_result"):
        blocks[-1] = {**blocks[-1], "cache_control": _CACHE_MARK}


def _blocks(message: Message, model: Model, before: Prefix) -> Iterable[_Block]:
    if message.role == "tool":
        return [_result_block(message)]
    if message.role == "assistant":
        return _kept_blocks(message, model, before) or _answer_blocks(message)
    # The API knows system text only at the start; what is injected later stands in the user's turn.
    text = f"<system>\n{message.content}\n</system>" if message.role == "system" else message.content
    told: list[_Block] = [{"type": "text", "text": text}] if message.content.strip() else []
    return [*map(_image_block, message.images), *told]


def _image_block(image: Image) -> _Block:
    source = {"type": "base64", "media_type": image.mime_type, "data": encoded(image.data)}
    return {"type": "image", "source": source}


def _result_block(message: Message) -> _Block:
    return {
        "type": "tool_result",
        "tool_use_id": _call_id(message.tool_call_id),
        "content": _result_content(message),
        "is_error": message.is_error,
    }


def _result_content(message: Message) -> str | list[_Block]:
    if not message.images:
        return message.content
    text: list[_Block] = [{"type": "text", "text": message.content}] if message.content.strip() else []
    return [*text, *map(_image_block, message.images)]


def _answer_blocks(message: Message) -> list[_Block]:
    text: list[_Block] = [{"type": "text", "text": message.content}] if message.content.strip() else []
    calls: list[_Block] = [
        {
            "type": "tool_use",
            "id": _call_id(call.id),
            "name": allowed_name(call.name),
            "input": parsed_arguments(call.arguments),
        }
        for call in message.tool_calls
    ]
    return text + calls


def _call_id(call_id: str | None) -> str:
    return allowed_id(call_id, "[A-Za-z0-9_-]{1,64}")


def _kept_blocks(message: Message, model: Model, before: Prefix) -> list[_Block]:
    """Return the answer exactly as this model gave it (signed thinking must come back untouched), if it still holds.

    Thinking is bound to its model and to what stood before it, and a repaired history may have changed the calls: then
    the answer is built anew, without thinking.
    """
    kept = message.provider_data
    if kept is None or kept.get("model") != model.id or not before.holds_for(kept):
        return []
    blocks = cast("list[_Block]", kept.get("content", []))
    calls = [block.get("id") for block in blocks if block["type"] == "tool_use"]
    return list(blocks) if calls == [call.id for call in message.tool_calls] else []
