"""The knowledge that goes with a question to the model (KS-05), as much of it as fits a budget."""

from collections.abc import Iterator
from dataclasses import dataclass

from werkbank.ai.tokens import estimate_text_tokens
from werkbank.domain.passages import Passage, format_passages
from werkbank.domain.principal import Principal
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.knowledge.model import FoundPassage, QueryVector, SearchFilter
from werkbank.knowledge.protocols import EmbedTexts, KnowledgeSession
from werkbank.knowledge.retrieval import best_passages, embed_question
from werkbank.observability import logger

_PREFACE = "What the workspace knows about this question."
_LONGEST_NOTE = 400
_TOKENS_PER_HEADER = 30
_FILES, _PASSAGES, _SHARED, _ROUNDS, _FACTS, _HINTS = 20, 10, 4, 5, 20, 3


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """Whose question, in which run of which workflow, with which files attached; the block stays within the budget."""

    principal: Principal
    run_id: str
    workflow_id: str
    question: str
    file_ids: tuple[str, ...] = ()
    budget_tokens: int = 8_000


@dataclass(frozen=True, slots=True)
class _Note:
    """A line of memory under a heading."""

    heading: str
    text: str


def build_context(database: UnitOfWork[KnowledgeSession], embed: EmbedTexts, request: ContextRequest) -> str:
    """Return the block, empty if there is nothing to say or anything failed: a run goes on without it (KS-08)."""
    try:
        return _build(database, embed, request)
    except Exception as error:  # whatever failed, an answer without knowledge is better than none
        logger.warning("knowledge left out", extra={"run_id": request.run_id, "error": type(error).__name__})
        return ""


def _build(database: UnitOfWork[KnowledgeSession], embed: EmbedTexts, request: ContextRequest) -> str:
    vector = embed_question(embed, request.question)
    with database.session(request.principal) as session:
        items = list(_within(_layers(session, request, vector), request.budget_tokens))
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
    yield (_note("Known facts", f"{fact.key}: {fact.value}") for fact in memory.facts(workflow_id, _FACTS))
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
