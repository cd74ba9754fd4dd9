"""Our conversation and answers in the form of the Chat Completions API, as OpenAI-compatible servers speak it.

They agree on the outline only. Met in recordings: a whole call in one delta without an index, later fragments with
empty ids and names or told apart by their place alone, content as a list of typed parts, usage repeated and growing in
every chunk, in a chunk without choices, in a choice or in a field of the server's own, reasoning tokens left out of the
completion's count, events of nothing but filter results, errors as chunks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from werkbank.ai.model import Capability, Model
from werkbank.ai.protocols import ChatRequest, Delta, StopReason, StreamEnd, TextDelta, ToolCallDelta
from werkbank.ai.tokens import estimate_usage
from werkbank.domain.errors import IncompleteStream
from werkbank.domain.media import Image
from werkbank.domain.messages import Message, ToolDefinition, Usage
from werkbank.providers.base64_bytes import data_url
from werkbank.providers.call_names import allowed_name
from werkbank.providers.faults import fault

if TYPE_CHECKING:
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam, ChatCompletionToolParam
    from openai.types.chat.chat_completion_chunk import Choice, ChoiceDeltaFunctionCall, ChoiceDeltaToolCallFunction
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "model_length": "length",
    "content_filter": "refusal",
}
# Thinking aloud: DeepSeek's name for it, and the one that vLLM, Ollama and Groq have taken up.
_REASONING = ("reasoning_content", "reasoning")


def build_parameters(model: Model, request: ChatRequest) -> CompletionCreateParamsStreaming:
    """Return the parameters of `chat.completions.create`; what the model refuses is left out (AI-04)."""
    limit = min(request.max_output_tokens, model.max_output_tokens)
    parameters: CompletionCreateParamsStreaming = {
        "model": model.name,
        "messages": list(_messages(request.messages, model)),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if model.can(Capability.REASONING):
        parameters["max_completion_tokens"] = limit
    else:
        parameters["max_tokens"] = limit
    if request.temperature is not None and model.can(Capability.TEMPERATURE):
        parameters["temperature"] = request.temperature
    if request.tools and model.can(Capability.TOOLS):
        parameters["tools"] = _tools(request.tools)
        if not request.may_call_tools:
            parameters["tool_choice"] = "none"
    return parameters


def _tools(tools: Sequence[ToolDefinition]) -> list[ChatCompletionToolParam]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": cast("dict[str, object]", tool.parameters),
            },
        }
        for tool in tools
    ]


def _messages(messages: Sequence[Message], model: Model) -> Iterator[ChatCompletionMessageParam]:
    """Yield the messages; what tools showed stands behind their results, which take text alone."""
    shown: tuple[Image, ...] = ()
    for message in messages:
        if shown and message.role != "tool":
            yield _shown(shown)
            shown = ()
        yield _message(message, model)
        shown += message.images if message.role == "tool" else ()
    if shown:
        yield _shown(shown)


def _shown(images: tuple[Image, ...]) -> ChatCompletionMessageParam:
    told = Message(role="user", content="(The pictures that the tools have just shown.)", images=images)
    return cast("ChatCompletionMessageParam", {"role": "user", "content": _content(told)})


def _message(message: Message, model: Model) -> ChatCompletionMessageParam:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": message.content}
    if message.role == "system":
        return {"role": "system", "content": message.content}
    if message.role == "user":
        return cast("ChatCompletionMessageParam", {"role": "user", "content": _content(message)})
    wire: dict[str, object] = {"role": "assistant", "content": message.content or None}
    if message.tool_calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": allowed_name(call.name), "arguments": call.arguments or "{}"},
            }
            for call in message.tool_calls
        ]
    # Models that think aloud want it back while they work through tools, in the form they gave it.
    kept = message.provider_data or {}
    if kept.get("model") == model.id:
        wire.update({name: kept[name] for name in _REASONING if name in kept})
        if "thinking" in kept:
            text = [{"type": "text", "text": message.content}] if message.content else []
            wire["content"] = [*cast("list[object]", kept["thinking"]), *text]
    return cast("ChatCompletionMessageParam", wire)


def _content(message: Message) -> str | list[dict[str, object]]:
    if not message.images:
        return message.content
    images: list[dict[str, object]] = [
        {"type": "image_url", "image_url": {"url": data_url(image)}} for image in message.images
    ]
    return [*images, {"type": "text", "text": message.content}]


class ChatReading:
    """Turns the chunks of one completion into deltas. `provider` is the server's name in messages."""

    def __init__(self, model: Model, request: ChatRequest, provider: str) -> None:
        self._model = model
        self._request = request
        self._provider = provider
        self._finish_reason: str | None = None
        self._usage: CompletionUsage | None = None
        self._reasoning: dict[str, str] = {}
        self._thinking: list[dict[str, JsonValue]] = []
        self._refused = False
        self._answered: list[str] = []

    @property
    def is_complete(self) -> bool:
        """Tell whether the answer's end was seen."""
        return self._finish_reason is not None

    def take(self, chunk: ChatCompletionChunk) -> Iterator[Delta]:
        """Yield what the chunk adds to the answer. Raises the fault that some servers report in its place."""
        extra = chunk.model_extra or {}
        if chunk.object not in ("chat.completion.chunk", None, "") and "message" in extra:
            raise fault(self._provider, None, (extra.get("code"), extra.get("type")), {}, str(extra["message"]))
        # Counts are cumulative where they come more than once: the latest holds.
        self._usage = chunk.usage or _usage_of(extra.get("x_groq")) or self._usage
        for choice in chunk.choices or ():
            if choice.index in (0, None):
                yield from self._take_choice(choice)

    def end(self) -> StreamEnd:
        """Return the end of the answer. Raises `IncompleteStream` when no finish reason ever came."""
        if self._finish_reason is None:
            raise IncompleteStream("The model's answer was cut off.")
        stop_reason = "refusal" if self._refused else _STOP_REASONS.get(self._finish_reason, "other")
        return StreamEnd(self._counted_usage(), stop_reason, self._kept())

    def _kept(self) -> dict[str, JsonValue] | None:
        if self._thinking:
            return {"model": self._model.id, "thinking": cast("JsonValue", self._thinking)}
        if self._reasoning:
            return {"model": self._model.id, **self._reasoning}
        return None

    def _take_choice(self, choice: Choice) -> Iterator[Delta]:
        if cast("str | None", choice.finish_reason) == "error":
            raise fault(self._provider, None, (), {})
        self._finish_reason = choice.finish_reason or self._finish_reason
        self._usage = _usage_of(choice.model_extra) or self._usage
        delta = choice.delta
        if delta is None:
            return
        for name in _REASONING:
            if thought := _text_of((delta.model_extra or {}).get(name)):
                self._reasoning[name] = self._reasoning.get(name, "") + thought
        self._refused = self._refused or bool(delta.refusal)
        self._think(delta.content)
        text = _text_of(delta.content) + (delta.refusal or "")
        if text:
            self._answered.append(text)
            yield TextDelta(text)
        for place, call in enumerate(delta.tool_calls or ()):
            yield self._call_delta(call.function, call.index, call.id, place)
        if delta.function_call:
            # The form before there were tools: one call, without an id.
            yield self._call_delta(delta.function_call, 0, None, 0)

    def _think(self, content: object) -> None:
        """Keep thinking among typed parts (Mistral): pieces of one thought together, each with its signature."""
        for part in content if isinstance(content, list) else ():
            if not isinstance(part, dict) or part.get("type") != "thinking":
                continue
            if not self._thinking or "signature" in self._thinking[-1]:
                self._thinking.append({"type": "thinking", "thinking": [{"type": "text", "text": ""}]})
            text = cast("list[dict[str, str]]", self._thinking[-1]["thinking"])[0]
            text["text"] += _text_of(part.get("thinking"))
            if part.get("signature"):
                self._thinking[-1]["signature"] = part["signature"]

    def _call_delta(
        self,
        function: ChoiceDeltaToolCallFunction | ChoiceDeltaFunctionCall | None,
        index: int | None,
        call_id: str | None,
        place: int,
    ) -> ToolCallDelta:
        arguments = _text_of_arguments(function.arguments if function else None)
        self._answered.append(arguments)
        return ToolCallDelta(index, call_id or None, (function.name if function else None) or None, arguments, place)

    def _counted_usage(self) -> Usage:
        if self._usage is not None:
            return _usage(self._usage)
        thought = "".join(self._reasoning.values()) + json.dumps(self._thinking)
        return estimate_usage(self._request, "".join(self._answered) + thought)


def _text_of(content: object) -> str:
    """Return the text of a delta; thinking among typed parts (Mistral) is no part of the answer."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(str(part.get("text", "")) for part in parts)


def _text_of_arguments(arguments: object) -> str:
    """Return the JSON text of a call's arguments, which some servers send as the object itself."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""


def _usage_of(place: object) -> CompletionUsage | None:
    """Return the usage from where OpenAI puts none: the choice (Moonshot), `x_groq` (Groq)."""
    from openai.types import CompletionUsage

    told = place.get("usage") if isinstance(place, dict) else None
    return CompletionUsage.construct(**told) if isinstance(told, dict) else None


def _usage(usage: CompletionUsage) -> Usage:
    details = usage.prompt_tokens_details
    prompt = usage.prompt_tokens or 0
    # Some servers (xAI) leave reasoning out of `completion_tokens`; the total has it, and it is billed.
    output = max(usage.completion_tokens or 0, (usage.total_tokens or 0) - prompt)
    cached = (details.cached_tokens if details else None) or _cached_elsewhere(usage.model_extra or {})
    return Usage(
        input_tokens=prompt,
        output_tokens=output,
        cached_input_tokens=cached,
        cache_write_tokens=(details.cache_write_tokens if details else None) or 0,
    )


def _cached_elsewhere(extra: dict[str, object]) -> int:
    """Return the cached tokens where servers put them beside OpenAI's place (Moonshot, DeepSeek, Mistral)."""
    found = (extra.get(name) for name in ("cached_tokens", "prompt_cache_hit_tokens", "num_cached_tokens"))
    return next((value for value in found if isinstance(value, int)), 0)
