"""The recent part of a long conversation: what is told in full, while older questions live on as memories (AG-17)."""

from collections.abc import Sequence

from werkbank.ai.tokens import estimate_text_tokens
from werkbank.domain.runs import StoredMessage

# Of the model's window; the rest is for tools, knowledge and the present question.
_SHARE_OF_WINDOW = 0.25
_MOST_TOKENS = 40_000


def recent(messages: Sequence[StoredMessage], run_id: str, window_tokens: int) -> tuple[StoredMessage, ...]:
    """Return the run's own messages, and of those before as many of the latest as fit a part of the model's window.

    Where the older ones grow too long, half of them go at once: until then the prompt only grows at its end, so that
    providers go on caching it from question to question.
    """
    budget = min(window_tokens * _SHARE_OF_WINDOW, _MOST_TOKENS)
    earlier = [message for message in messages if message.run_id != run_id]
    sizes = [estimate_text_tokens(message.content) for message in earlier]
    start, total = 0, 0
    for position, size in enumerate(sizes):
        total += size
        if total > budget:
            while start <= position and total > budget / 2:
                total -= sizes[start]
                start += 1
    # A conversation begins with a question.
    while start < len(earlier) and start > 0 and earlier[start].role != "user":
        start += 1
    dropped = {message.id for message in earlier[:start]}
    return tuple(message for message in messages if message.id not in dropped)
