"""Our conversation in Mistral's dialect of Chat Completions (https://docs.mistral.ai/api).

It refuses what others accept: fields it does not know, ids of calls that are not nine letters or digits, a user's
message right after a tool's, an assistant's without content or calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from werkbank.ai.model import Capability, Model
from werkbank.ai.protocols import ChatRequest
from werkbank.providers import openai_chat
from werkbank.providers.call_names import allowed_id

if TYPE_CHECKING:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

BASE_URL = "https://api.mistral.ai/v1"
# 16,384 tokens a request, passages count about half of their estimate: https://docs.mistral.ai/capabilities/embeddings
EMBEDDING_TOKENS_PER_CALL = 16_000

_Wire = dict[str, object]
_BRIDGE: _Wire = {"role": "assistant", "content": "I have the results."}


def build_parameters(model: Model, request: ChatRequest) -> CompletionCreateParamsStreaming:
    """Return the parameters of `chat.completions.create` as Mistral takes them (AI-04)."""
    parameters = cast("_Wire", openai_chat.build_parameters(model, request))
    # Usage comes unasked for.
    del parameters["stream_options"]
    limit = parameters.pop("max_completion_tokens", None)
    messages = cast("list[_Wire]", parameters["messages"])
    parameters["messages"] = list(_bridged(map(_message, filter(_says_something, messages))))
    if limit is not None:
        parameters["max_tokens"] = limit
    if request.conversation and model.can(Capability.CACHING):
        # It turns caching on: https://docs.mistral.ai/inference/conversations/advanced/prompt-caching
        parameters["prompt_cache_key"] = request.conversation
    return cast("CompletionCreateParamsStreaming", parameters)


def _says_something(message: _Wire) -> bool:
    return message["role"] != "assistant" or bool(message.get("content") or message.get("tool_calls"))


def _message(message: _Wire) -> _Wire:
    if message["role"] == "tool":
        return {**message, "tool_call_id": _call_id(str(message["tool_call_id"]))}
    if "tool_calls" in message:
        calls = cast("list[_Wire]", message["tool_calls"])
        return {**message, "tool_calls": [{**call, "id": _call_id(str(call["id"]))} for call in calls]}
    return message


def _call_id(call_id: str) -> str:
    return allowed_id(call_id, "[A-Za-z0-9]{9}", length=9)


def _bridged(messages: Iterable[_Wire]) -> Iterable[_Wire]:
    """Put an assistant's message between a tool's and what is no tool's or assistant's.

    System text after the start stands in a user's message.
    """
    previous = ""
    for message in messages:
        is_late_system = message["role"] == "system" and previous not in ("", "system")
        told: _Wire = (
            {"role": "user", "content": f"<system>\n{message['content']}\n</system>"} if is_late_system else message
        )
        if previous == "tool" and told["role"] == "user":
            yield _BRIDGE
        yield told
        previous = str(told["role"])
