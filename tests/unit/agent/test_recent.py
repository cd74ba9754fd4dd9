"""A long conversation is told by its recent part, cut so seldom that prompts stay cacheable (AG-17)."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from werkbank.agent.recent import recent
from werkbank.domain.runs import StoredMessage
from werkbank.domain.time import utc_now


def conversation(*sizes: int) -> tuple[StoredMessage, ...]:
    """Questions and answers of these lengths in characters, a run each."""
    return tuple(
        StoredMessage(
            id=f"{n}", workflow_id="w", run_id=f"r{n // 2}", round=0, role="assistant" if n % 2 else "user",
            content="x" * size, created_at=utc_now(),
        )
        for n, size in enumerate(sizes)
    )  # fmt: skip


@given(st.lists(st.integers(0, 900), max_size=40))
def test_recent_part_is_an_end_within_its_budget_that_begins_with_a_question(sizes: list[int]) -> None:
    messages = conversation(*sizes)
    told = recent(messages, "other", 2_000)
    assert told == messages[len(messages) - len(told) :]
    assert sum(len(message.content) / 2 for message in told) <= 500
    assert not told or len(told) == len(messages) or told[0].role == "user"


def test_own_messages_are_always_told() -> None:
    messages = conversation(100, 100, 90_000, 90_000)
    assert recent(messages, "r1", 1_000) == messages
    assert recent(messages, "r0", 1_000) == messages[:2]


def test_short_conversation_is_told_whole() -> None:
    messages = conversation(*[100] * 10)
    assert recent(messages, "other", 100_000) == messages


def test_its_beginning_moves_seldom() -> None:
    messages = conversation(*[100] * 200)
    begins = [recent(messages[:n], "other", 10_000)[0].id for n in range(2, 200, 2)]
    assert sum(one != two for one, two in pairwise(begins)) < len(begins) / 8
