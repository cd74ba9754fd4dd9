"""The estimate stays above what real tokenizers count (figures of the recordings, and of published tokenizers)."""

import pytest

from werkbank.ai.protocols import ChatRequest
from werkbank.ai.tokens import estimate_prompt_tokens, estimate_text_tokens
from werkbank.domain.messages import Message, ToolCall, ToolDefinition


@pytest.mark.parametrize(
    ("text", "real_tokens"),
    [
        ("The printing press was invented by Johannes Gutenberg around 1440.", 15),
        ("Donaudampfschifffahrtsgesellschaftskapitän", 15),
        ("你好世界，今天天气很好", 11),
        ("", 0),
    ],
)
def test_text_is_not_underestimated(text: str, real_tokens: int) -> None:
    assert estimate_text_tokens(text) >= real_tokens


def test_everything_that_is_sent_counts() -> None:
    message = Message(role="user", content="Was ist ein metrischer Raum?")
    bare = estimate_prompt_tokens(ChatRequest((message,), 10))
    call = Message(role="assistant", tool_calls=(ToolCall(id="1", name="search", arguments='{"q": "Raum"}'),))
    kept = Message(role="assistant", provider_data={"content": ["x" * 100]})
    tool = ToolDefinition(name="search", description="Searches files", parameters={"type": "object"})
    assert bare > estimate_text_tokens(message.content)
    assert estimate_prompt_tokens(ChatRequest((message, call), 10)) > bare
    assert estimate_prompt_tokens(ChatRequest((message, kept), 10)) >= bare + 50
    assert estimate_prompt_tokens(ChatRequest((message,), 10, tools=(tool,))) > bare + 800


def test_a_lone_surrogate_does_not_break_the_count() -> None:
    assert estimate_text_tokens("\ud800") > 0
