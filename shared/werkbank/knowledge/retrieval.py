"""Finds the passages that answer a question (KS-06)."""

from itertools import islice

from werkbank.domain.errors import ProviderError
from werkbank.domain.principal import Principal
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.knowledge.fusion import fuse, vector_weight
from werkbank.knowledge.model import FoundPassage, QueryVector, SearchFilter
from werkbank.knowledge.protocols import EmbedTexts, KnowledgeSession, PassageStore
from werkbank.observability import logger

_CANDIDATES = 50
# What is looked for stands in the first sentences; a whole pasted document is no question.
_LONGEST_QUESTION = 2_000
_EVERYTHING = SearchFilter()


def search(
    database: UnitOfWork[KnowledgeSession],
    embed: EmbedTexts,
    principal: Principal,
    question: str,
    narrow: SearchFilter = _EVERYTHING,
    limit: int = 10,
) -> tuple[FoundPassage, ...]:
    """Return the passages nearest to a question, best first, among all that the principal may see.

    Without an embedder words alone decide. Raises StorageUnavailable, BudgetExceeded.
    """
    if not question.strip():
        return ()
    try:
        vector = embed_question(embed, question)
    except ProviderError as error:
        logger.warning("searching by words alone", extra={"error": type(error).__name__})
        vector = None
    with database.session(principal) as session:
        return best_passages(session.knowledge.passages, question, vector, narrow, limit)


def embed_question(embed: EmbedTexts, question: str) -> QueryVector:
    """Return the question's vector. Raises ProviderError, BudgetExceeded."""
    embedded = embed([question[:_LONGEST_QUESTION]], "query")
    return QueryVector(embedded.vectors[0], embedded.model_id)


def searchable(question: str) -> str:
    """Return as much of a question as is worth looking for."""
    return question[:_LONGEST_QUESTION]


def best_passages(
    store: PassageStore, question: str, vector: QueryVector | None, narrow: SearchFilter, limit: int
) -> tuple[FoundPassage, ...]:
    """Return the best passages by similarity and words together, best first."""
    candidates = store.candidates(searchable(question), vector, narrow, max(_CANDIDATES, limit))
    fused = fuse(candidates, vector_weight(vector.model_id) if vector else 0.0)
    return tuple(store.passages(dict(islice(fused.items(), limit)))) if fused else ()
