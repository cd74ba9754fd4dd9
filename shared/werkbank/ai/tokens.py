"""Token counts without a tokenizer: cheap, and high rather than low, because money is reserved by them.

Byte-level tokenizers give German and English prose 2.3 to 4 bytes a token; two bytes a token also covers tables, code
and other scripts. Only long runs of random characters can need more.
"""

import json

from werkbank.ai.protocols import ChatRequest
from werkbank.domain.media import Audio
from werkbank.domain.messages import Message, ToolDefinition, Usage

_BYTES_PER_TOKEN = 2
_TOKENS_PER_MESSAGE = 12
_TOKENS_PER_TOOL = 12
# The text protocol writes a frame around a call and one around its result, both with the tool's name: longer than any
# provider's own.
_TOKENS_PER_CALL = 64
# Providers add a hidden prompt as soon as tools are offered (Anthropic documents 290 to 804 tokens).
_TOKENS_FOR_TOOL_USE = 900
# A large picture takes at most 4,784 tokens with Claude, and 3,000 with GPT at the detail that we ask for.
_TOKENS_PER_IMAGE = 5_000
# OpenAI's speech takes some 21 tokens a second, and nobody who is understood speaks fewer than 3.5 characters a second.
AUDIO_TOKENS_PER_CHARACTER = 6
# Bytes a second at least: 8-bit telephone sound, and in other formats Opus at 6 kbit/s, the thinnest there is.
_WAVE_BYTES_PER_SECOND = 8_000
_BYTES_PER_SECOND = 750


def estimate_text_tokens(text: str) -> int:
    """Return an upper bound of the tokens of a text."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def beginning(text: str, tokens: int) -> str:
    """Return as much of a text's beginning as `estimate_text_tokens` counts for so many tokens."""
    return text.encode("utf-8", "surrogatepass")[: tokens * _BYTES_PER_TOKEN].decode("utf-8", "ignore")


def estimate_prompt_tokens(request: ChatRequest) -> int:
    """Return an upper bound of the prompt tokens of a request: messages, tools and the frame around them."""
    messages = sum(_message_tokens(message) for message in request.messages)
    tools = sum(_tool_tokens(tool) for tool in request.tools)
    return messages + tools + (_TOKENS_FOR_TOOL_USE if request.tools else 0)


def estimate_usage(request: ChatRequest, written: str) -> Usage:
    """Return what a call used whose provider does not tell: high rather than low, since it was not free."""
    return Usage(input_tokens=estimate_prompt_tokens(request), output_tokens=estimate_text_tokens(written))


def estimate_seconds(audio: Audio) -> int:
    """Return an upper bound of how long a recording is, without decoding it."""
    is_wave = audio.mime_type in ("audio/wav", "audio/x-wav", "audio/wave")
    return -(-len(audio.data) // (_WAVE_BYTES_PER_SECOND if is_wave else _BYTES_PER_SECOND))


def _message_tokens(message: Message) -> int:
    calls = sum(
        2 * estimate_text_tokens(call.name) + estimate_text_tokens(call.arguments) + _TOKENS_PER_CALL
        for call in message.tool_calls
    )
    kept = estimate_text_tokens(json.dumps(message.provider_data)) if message.provider_data else 0
    images = len(message.images) * _TOKENS_PER_IMAGE
    return estimate_text_tokens(message.content) + calls + kept + images + _TOKENS_PER_MESSAGE


def _tool_tokens(tool: ToolDefinition) -> int:
    text = tool.name + tool.description + json.dumps(tool.parameters)
    return estimate_text_tokens(text) + _TOKENS_PER_TOOL
