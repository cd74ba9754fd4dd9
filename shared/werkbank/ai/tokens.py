"""Token counts without a tokenizer: cheap, and high rather than low, because money is reserved by them.

Byte-level tokenizers give German and English prose 2.3 to 4 bytes a token; two bytes a token also covers tables, code
and other scripts. Only long runs of random characters can need more.
"""

import json

from werkbank.ai.protocols import ChatRequest
from werkbank.domain.messages import Message, ToolDefinition

_BYTES_PER_TOKEN = 2
_TOKENS_PER_MESSAGE = 12
_TOKENS_PER_TOOL = 12
# Providers add a hidden prompt as soon as tools are offered (Anthropic documents 290 to 804 tokens).
_TOKENS_FOR_TOOL_USE = 900


def estimate_text_tokens(text: str) -> int:
    """Return an upper bound of the tokens of a text."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def estimate_prompt_tokens(request: ChatRequest) -> int:
    """Return an upper bound of the prompt tokens of a request: messages, tools and the frame around them."""
    messages = sum(_message_tokens(message) for message in request.messages)
    tools = sum(_tool_tokens(tool) for tool in request.tools)
    return messages + tools + (_TOKENS_FOR_TOOL_USE if request.tools else 0)


def _message_tokens(message: Message) -> int:
    calls = sum(
        estimate_text_tokens(call.name) + estimate_text_tokens(call.arguments) + _TOKENS_PER_MESSAGE
        for call in message.tool_calls
    )
    kept = estimate_text_tokens(json.dumps(message.provider_data)) if message.provider_data else 0
    return estimate_text_tokens(message.content) + calls + kept + _TOKENS_PER_MESSAGE


def _tool_tokens(tool: ToolDefinition) -> int:
    text = tool.name + tool.description + json.dumps(tool.parameters)
    return estimate_text_tokens(text) + _TOKENS_PER_TOOL
