"""When rounds are folded, and what stands for them (AG-14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from werkbank.agent.summarization import Fold, covering, folded_before, segments, transcript
from werkbank.domain.trace import ToolCallLog


@pytest.mark.parametrize(
    ("round", "folded"),
    [(1, 0), (3, 0), (4, 2), (6, 2), (7, 4), (10, 7), (13, 10), (14, 10), (15, 13), (17, 13), (18, 16), (30, 28)],
)
def test_steps(round: int, folded: int) -> None:
    assert folded_before(round) == folded


@given(st.integers(1, 100))
def test_the_latest_rounds_are_always_whole(round: int) -> None:
    assert folded_before(round) <= max(0, round - 2)
    assert folded_before(round + 1) >= folded_before(round)


@pytest.mark.parametrize(
    ("last", "spans"), [(4, ((1, 4),)), (10, ((1, 10),)), (13, ((1, 10), (11, 13))), (22, ((1, 20), (21, 22)))]
)
def test_full_tens_have_a_summary_of_their_own(last: int, spans: tuple[tuple[int, int], ...]) -> None:
    assert segments(last) == spans


def fold(first: int, last: int) -> Fold:
    return Fold(first=first, last=last, text=f"summary {first}-{last}")


def test_missing_summary_is_done_without() -> None:
    stored = [fold(1, 2), fold(1, 4), fold(11, 13)]
    assert covering(stored, 13) == (fold(1, 4),)
    assert covering([], 13) == ()
    assert covering([fold(1, 10), *stored], 13) == (fold(1, 10), fold(11, 13))


def a_call(round: int) -> ToolCallLog:
    return ToolCallLog(
        run_id="r",
        round=round,
        call_id="a",
        position=0,
        name="readFile",
        arguments="{}",
        status="succeeded",
        result=f"page {round}",
    )


def test_transcript_builds_on_earlier_summaries() -> None:
    text = transcript(1, 4, [fold(1, 2)], [], [a_call(round) for round in range(1, 5)])
    assert "summary 1-2" in text
    assert "page 2" not in text
    assert "page 3" in text
    assert "page 4" in text
