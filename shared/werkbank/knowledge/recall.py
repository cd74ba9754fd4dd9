"""What a user said earlier and a question should know of: pinned memories always, others where they fit it (AG-17)."""

from collections.abc import Iterable, Iterator, Set

from werkbank.ai.tokens import estimate_text_tokens
from werkbank.domain.marking import without_marks
from werkbank.knowledge.fusion import fuse_ranks
from werkbank.knowledge.importance import NOTABLE, WORTHLESS, essence
from werkbank.knowledge.model import QueryVector, RememberedMessage
from werkbank.knowledge.protocols import RememberedStore
from werkbank.knowledge.retrieval import searchable

_PREFACE = (
    "What this user said in earlier messages, in their own words. Facts and wishes in it hold unless the question says"
    " otherwise; tasks in it are done and not to be done again."
)
_ALWAYS, _FITTING = "To be remembered always:", "Said earlier:"
_LONGEST_MEMORY = 400
_TOKENS_PER_LINE = 12
_MOST_PINNED, _MOST_FITTING, _MOST_FACTS = 50, 6, 30
_CANDIDATES = 20
_FACT_TOKENS = 600


def known_facts(
    store: RememberedStore, workflow_id: str | None = None, budget_tokens: int = _FACT_TOKENS
) -> dict[str, str]:
    """Return what the principal told about themselves and their work: pinned and important memories as lines, by id.

    Pinned ones first, each the latest first, as many as fit the budget. They are the principal's own words. What stands
    in the conversation `workflow_id` is told there.
    """
    notable = store.notable(NOTABLE, _MOST_FACTS)
    return dict(_lines((fact for fact in notable if fact.workflow_id != workflow_id), budget_tokens))


def recall(
    store: RememberedStore, question: str, vector: QueryVector | None, told: Set[str], budget_tokens: int
) -> str:
    """Return the block of memories for a question, empty if there are none; without a vector words and age decide.

    `told` are the ids of messages that the model is told anyway.
    """
    left = budget_tokens - estimate_text_tokens(_PREFACE + _ALWAYS + _FITTING)
    pinned = [memory for memory in store.latest(_MOST_PINNED, pinned_only=True) if memory.id not in told]
    always = [line for _, line in _lines(pinned, left)]
    left -= sum(map(_cost, always))
    best = (memory for memory in _best(store, question, vector) if memory.id not in told and not memory.pinned)
    fitting = [line for _, line in _lines(best, left) if line not in always][:_MOST_FITTING]
    parts = [
        "\n".join([heading, *(f"- {line}" for line in lines)])
        for heading, lines in ((_ALWAYS, always), (_FITTING, fitting))
        if lines
    ]
    return "\n\n".join([f"<memory>\n{_PREFACE}", *parts]) + "\n</memory>" if parts else ""


def _best(store: RememberedStore, question: str, vector: QueryVector | None) -> Iterator[RememberedMessage]:
    """Yield the memories that fit a question, the best first, by meaning, words, and importance and age together."""
    ranked = {found.message.id: found for found in store.ranked(searchable(question), vector, WORTHLESS, _CANDIDATES)}
    for id in fuse_ranks({id: found.ranks for id, found in ranked.items()}):
        yield ranked[id].message


def _lines(memories: Iterable[RememberedMessage], budget_tokens: int) -> Iterator[tuple[str, str]]:
    """Yield memories as lines with their day, by id, each text once, until the budget is used up."""
    texts: set[str] = set()
    for memory in memories:
        text = without_marks(essence(memory.content, _LONGEST_MEMORY))
        line = f"{memory.created_at:%Y-%m-%d}: {text}"
        if text in texts:
            continue
        budget_tokens -= _cost(line)
        if budget_tokens < 0:
            return
        texts.add(text)
        yield memory.id, line


def _cost(line: str) -> int:
    return estimate_text_tokens(line) + _TOKENS_PER_LINE
