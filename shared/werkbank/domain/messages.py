"""A conversation as every model provider understands it, in none of their formats."""

from typing import Literal

from pydantic import JsonValue

from werkbank.domain.base import WireModel
from werkbank.domain.media import Image

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(WireModel):
    """A model's request to run a tool. `arguments` is the JSON text exactly as the model wrote it, valid or not."""

    id: str
    name: str
    arguments: str


class Message(WireModel):
    """One message. `tool_calls` only on assistant messages; `tool_call_id` and `is_error` only on tool results.

    `images` on user messages is what the text asks about, on tool results what the tool showed. A conversation is
    stored without them.
    `provider_data` holds what one provider wants back untouched (such as signed thinking blocks).
    """

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    images: tuple[Image, ...] = ()
    provider_data: dict[str, JsonValue] | None = None


class ToolDefinition(WireModel):
    """A tool as it is offered to a model; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


class Usage(WireModel):
    """Tokens of one call. `input_tokens` counts all of the prompt, the cached part included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
