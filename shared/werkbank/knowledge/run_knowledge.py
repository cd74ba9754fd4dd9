"""Knowledge for a run: what goes with its question, and what its searches find, numbered for citing."""

from collections.abc import Iterable, Sequence
from typing import Literal

from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope
from werkbank.documents.sections import outline
from werkbank.domain.files import FileItem
from werkbank.domain.passages import Passage, format_passages
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run, StoredMessage
from werkbank.domain.trace import OUTCOME_UNKNOWN, ToolCallLog
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.knowledge.context import Context, ContextRequest, build_context
from werkbank.knowledge.model import Embedded, SearchFilter
from werkbank.knowledge.protocols import EmbedTexts, KnowledgeSession
from werkbank.knowledge.retrieval import search

_EMBEDDING_SECONDS = 20.0
_OUTLINED_FILES = 5
_CALLS = 10
_LONGEST_SHOWN = 300
_CUT_SHORT = (
    "Calls of earlier questions in this conversation that were stopped or failed before an answer told of them:"
)


def gate_embedder(ai: AiService, scope: CallScope, timeout_seconds: float = _EMBEDDING_SECONDS) -> EmbedTexts:
    """Return an embedder that pays for its calls under this scope."""

    def embed(texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embedded:
        embedded = ai.embed(scope, texts, purpose, timeout_seconds)
        return Embedded(embedded.vectors, embedded.model.id)

    return embed


class RunKnowledge:
    """Finds passages on behalf of runs."""

    def __init__(self, database: UnitOfWork[KnowledgeSession], ai: AiService) -> None:
        self._database = database
        self._ai = ai

    def context(self, run: Run, question: StoredMessage, files: Sequence[FileItem], told: Iterable[str]) -> Context:
        """Return memories, outlines of the question's files and numbered passages; failures are only logged (KS-08).

        With them goes what the conversation's runs that were cut short did: no answer told of it (AG-20). `told` are
        the ids of earlier messages that the model is told anyway.
        """
        assert run.workflow_id
        request = ContextRequest(
            run.principal, run.id, run.workflow_id, question.content, file_ids=tuple(item.id for item in files),
            told=frozenset((question.id, *told)),
        )  # fmt: skip
        found = build_context(self._database, self._embedder(run), request)
        known = "\n\n".join(filter(None, [self._cut_short(run), self._outlines(run.principal, files), found.known]))
        return Context(found.said, known)

    def search_block(self, run: Run, query: str, file_ids: Sequence[str], limit: int) -> str:
        """Return what a search finds as numbered passages. Raises StorageUnavailable, BudgetExceeded."""
        narrow = SearchFilter(file_ids=tuple(file_ids) or None)
        found = search(self._database, self._embedder(run), run.principal, query, narrow, limit)
        with self._database.session(run.principal) as session:
            numbers = session.citations.number(run.id, [passage.source for passage in found])
        return format_passages(
            Passage(number, passage.place, passage.text) for number, passage in zip(numbers, found, strict=True)
        )

    def _embedder(self, run: Run) -> EmbedTexts:
        return gate_embedder(
            self._ai, CallScope(run.principal, "embedding", run_id=run.id, workflow_id=run.workflow_id)
        )

    def _cut_short(self, run: Run) -> str:
        assert run.workflow_id
        with self._database.session(run.principal) as session:
            calls = session.tool_calls.cut_short(run.workflow_id, _CALLS)
        lines = [f"- {call.name} {call.arguments[:_LONGEST_SHOWN]}: {_outcome(call)}" for call in reversed(calls)]
        return "\n".join([_CUT_SHORT, *lines]) if lines else ""

    def _outlines(self, principal: Principal, files: Sequence[FileItem]) -> str:
        """Return metadata and structure of the files a question is about (AG-01)."""
        if not files:
            return ""
        with self._database.session(principal) as session:
            indexes = {item.id: session.knowledge.index_of(item.id) for item in files[:_OUTLINED_FILES]}
        lines = ["Files of this question:"]
        for item in files:
            lines.append(f"- {item.file_name} (id {item.id}; {item.mime_type}; {item.size:,} bytes; {item.status})")
            index = indexes.get(item.id)
            if index:
                lines.append(outline(index.structure, item.file_name))
        if len(files) > _OUTLINED_FILES:
            lines.append(f"Of these, {len(files) - _OUTLINED_FILES} come without structure; browseContainer shows it.")
        return "\n".join(lines)


def _outcome(call: ToolCallLog) -> str:
    return f"done. {(call.result or '')[:_LONGEST_SHOWN]}" if call.status == "succeeded" else OUTCOME_UNKNOWN
