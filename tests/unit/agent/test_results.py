"""What tools said fits the window of the model that is told of it (AG-14)."""

from hypothesis import given
from hypothesis import strategies as st

from werkbank.agent.results import readable, shortened
from werkbank.ai.tokens import estimate_text_tokens
from werkbank.domain.trace import ToolCallLog

TEXTS = st.lists(st.text(st.sampled_from("aä😀 "), max_size=400), max_size=8)


@given(TEXTS, st.integers(0, 2_000))
def test_together_they_have_at_most_so_many_tokens(texts: list[str], tokens: int) -> None:
    told = shortened(texts, tokens)
    assert sum(map(estimate_text_tokens, told)) <= tokens or told == texts
    assert sum(map(estimate_text_tokens, told)) <= max(tokens, 0)
    assert all(text.startswith(kept) for text, kept in zip(texts, told, strict=True))


@given(TEXTS, st.integers(0, 2_000))
def test_nothing_is_cut_without_need_and_only_what_is_longest(texts: list[str], tokens: int) -> None:
    told = shortened(texts, tokens)
    if sum(map(estimate_text_tokens, texts)) <= tokens:
        assert told == texts
    whole = [estimate_text_tokens(text) for text, kept in zip(texts, told, strict=True) if text == kept]
    cut = [estimate_text_tokens(text) for text, kept in zip(texts, told, strict=True) if text != kept]
    assert not cut or not whole or max(whole) <= min(cut)


def a_call(round: int, position: int, result: str) -> ToolCallLog:
    return ToolCallLog(
        run_id="r", round=round, call_id=f"{round}-{position}", position=position, name="readFile", arguments="{}",
        status="succeeded", result=result,
    )  # fmt: skip


def test_a_round_is_told_the_same_whatever_comes_after_it() -> None:
    first = [a_call(1, position, "page " * 4_000) for position in range(9)]
    later = [a_call(2, 0, "short")]
    told = readable([*first, *later], 100_000)
    assert told[:9] == readable(first, 100_000)
    assert told[9].result == "short"
    assert sum(estimate_text_tokens(call.result or "") for call in told[:9]) < 31_000
    assert all("cut here" in (call.result or "") for call in told[:9])
