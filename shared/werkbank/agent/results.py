"""How much of what tools said a model is told: a round may call any number, but its model's window has an end."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from werkbank.ai.tokens import beginning, estimate_text_tokens
from werkbank.domain.trace import ToolCallLog

# Of the window, for the results of one round; two rounds are told whole beside the recent conversation.
_SHARE_OF_WINDOW = 0.3
_CUT = "\n… cut here: the results of this round were too long together. Ask again for the part you need."


def readable(calls: Iterable[ToolCallLog], window_tokens: int) -> tuple[ToolCallLog, ...]:
    """Return the calls, in order, with the longest results of a round cut where together they are too long.

    What a round is told depends on it and the window alone, so the prompt's prefix stays the same.
    """
    told: list[ToolCallLog] = []
    for _, of_round in groupby(calls, lambda call: call.round):
        same = list(of_round)
        results = shortened([call.result or "" for call in same], int(window_tokens * _SHARE_OF_WINDOW))
        told += [
            call if result == (call.result or "") else call.model_copy(update={"result": result + _CUT})
            for call, result in zip(same, results, strict=True)
        ]
    return tuple(told)


def shortened(texts: Sequence[str], tokens: int) -> list[str]:
    """Return the texts, cut to one length where that is needed for them to have at most so many tokens together."""
    sizes = [estimate_text_tokens(text) for text in texts]
    limit = _common_limit(sizes, tokens)
    return [text if size <= limit else beginning(text, limit) for text, size in zip(texts, sizes, strict=True)]


def _common_limit(sizes: Sequence[int], budget: int) -> int:
    """Return the most that each may have so that all stay within the budget: short ones leave theirs to the rest."""
    for place, size in enumerate(sorted(sizes)):
        share = budget // (len(sizes) - place)
        if size > share:
            return share
        budget -= size
    return max(sizes, default=0)
