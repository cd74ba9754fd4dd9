"""The knowledge that goes with a question to the model (KS-05), as much of it as fits a budget."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from werkbank.ai.tokens import estimate_text_tokens
from werkbank.domain.passages import Passage, format_passages
from werkbank.domain.principal import Principal
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.knowledge.model import FoundPassage, QueryVector, SearchFilter
from werkbank.knowledge.protocols import EmbedTexts, KnowledgeSession
from werkbank.knowledge.recall import known_facts, recall
from werkbank.knowledge.retrieval import best_passages, embed_question
from werkbank.observability import logger

_PREFACE = "What the workspace knows about this question."
_LONGEST_NOTE = 400
_TOKENS_PER_HEADER = 30
# At most this part of the budget is for memories.
_MEMORY_SHARE = 0.25
_FILES, _PASSAGES, _SHARED, _ROUNDS, _FACTS, _HINTS = 20, 10, 4, 5, 20, 3

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """Whose question, in which run of which workflow, with which files attached; all of it stays within the budget.

    `told` are the ids of messages that the model is told anyway.
    """

    principal: Principal
    run_id: str
    workflow_id: str
    question: str
    file_ids: tuple[str, ...] = ()
    budget_tokens: int = 8_000
    told: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Context:
    """What goes along: `said`, the user's own earlier words, and `known`, what comes from files, tools and answers."""

    said: str = ""
    known: str = ""


@dataclass(frozen=True, slots=True)
class _Note:
    """A line of memory under a heading."""

    heading: str
    text: str


def build_context(database: UnitOfWork[KnowledgeSession], embed: EmbedTexts, request: ContextRequest) -> Context:
    """Return what is there; what failed is empty, since a run goes on without it (KS-08)."""
    vector = _softly(request, lambda: embed_question(embed, request.question))
    said = _softly(request, lambda: _said(database, request, vector)) or ""
    left = request.budget_tokens - estimate_text_tokens(said)
    known = _softly(request, lambda: _known(database, request, vector, left)) if vector else None
    return Context(said, known or "")


def _softly(request: ContextRequest, action: Callable[[], T]) -> T | None:
    """Return what the action gives; None when it fails, whatever it is: an answer without it is better than none."""
    try:
        return action()
    except Exception as error:
        logger.warning("knowledge left out", extra={"run_id": request.run_id, "error": type(error).__name__})
        return None


def _said(database: UnitOfWork[KnowledgeSession], request: ContextRequest, vector: QueryVector | None) -> str:
    budget = int(request.budget_tokens * _MEMORY_SHARE)
    with database.session(request.principal) as session:
        remembered = session.knowledge.remembered
        told = request.told | known_facts(remembered, request.workflow_id).keys()  # by the system prompt
        return recall(remembered, request.question, vector, told, budget)


def _known(
    database: UnitOfWork[KnowledgeSession], request: ContextRequest, vector: QueryVector, budget_tokens: int
) -> str:
    with database.session(request.principal) as session:
        items = list(_within(_layers(session, request, vector), budget_tokens))
        found = [item for item in items if isinstance(item, FoundPassage)]
        numbers = session.citations.number(request.run_id, [item.source for item in found])
    passages = [Passage(n, item.place, item.text) for n, item in zip(numbers, found, strict=True)]
    return _render([item for item in items if isinstance(item, _Note)], passages)


def _within(layers: Iterator[Iterator[_Note | FoundPassage]], budget_tokens: int) -> Iterator[_Note | FoundPassage]:
    """Let through what fits, layer by layer; each passage and text once. Layers that have no room are never asked."""
    left = budget_tokens - estimate_text_tokens(_PREFACE) - _TOKENS_PER_HEADER
    seen: set[str] = set()
    for layer in layers:
        for item in layer:
            cost = _cost(item)
            if item.text in seen:
                continue
            if cost > left:
                break
            seen.add(item.text)
            left -= cost
            yield item


def _cost(item: _Note | FoundPassage) -> int:
    tokens = item.token_count if isinstance(item, FoundPassage) else estimate_text_tokens(item.text)
    return tokens + _TOKENS_PER_HEADER


def _layers(
    session: KnowledgeSession, request: ContextRequest, vector: QueryVector
) -> Iterator[Iterator[_Note | FoundPassage]]:
    """Yield the layers in the order of KS-05."""
    memory, workflow_id = session.knowledge.memory, request.workflow_id

    def passages(narrow: SearchFilter, limit: int) -> Iterator[FoundPassage]:
        yield from best_passages(session.knowledge.passages, request.question, vector, narrow, limit)

    yield (_note("Files used before", item.content) for item in memory.known_files(workflow_id, _FILES))
    if request.file_ids:
        yield passages(SearchFilter(file_ids=request.file_ids), _PASSAGES)
    yield passages(SearchFilter(), _PASSAGES)
    yield (_note("Found before", item.content) for item in memory.similar_rounds(workflow_id, vector, _ROUNDS))
    yield (_note("Facts found in documents", f"{fact.key}: {fact.value}") for fact in memory.facts(workflow_id, _FACTS))
    yield passages(SearchFilter(scopes=("mandate", "global")), _SHARED)
    yield (_note("Found in other conversations", m.content) for m in memory.related_rounds(workflow_id, vector, _HINTS))


def _note(heading: str, text: str) -> _Note:
    return _Note(heading, " ".join(text.split())[:_LONGEST_NOTE])


def _render(notes: list[_Note], passages: list[Passage]) -> str:
    if not notes and not passages:
        return ""
    headings = dict.fromkeys(note.heading for note in notes)
    parts = [
        "\n".join([f"{heading}:", *(f"- {note.text}" for note in notes if note.heading == heading)])
        for heading in headings
    ]
    if passages:  # last, since a passage ends where the next one or the block ends
        parts += ["Passages:", format_passages(passages)]
    return "\n\n".join([_PREFACE, *parts])
