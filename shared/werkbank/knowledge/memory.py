"""What runs leave behind for later rounds and other conversations: files used, findings, decisions, facts."""

from collections.abc import Sequence

from werkbank.domain.ids import derived_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import StoredMessage
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.knowledge.importance import WORTHLESS, essence
from werkbank.knowledge.model import MemoryKind, QueryVector, RoundMemory
from werkbank.knowledge.protocols import EmbedTexts, KnowledgeSession

_LONGEST_CONTENT = 2_000


def round_memory(
    workflow_id: str, run_id: str, round: int, kind: MemoryKind, content: str, file_id: str | None = None
) -> RoundMemory:
    """Return a memory whose id follows from what it says, so that a repeated round stores nothing twice."""
    content = content[:_LONGEST_CONTENT]
    return RoundMemory(
        id=derived_id("roundMemory", run_id, str(round), kind, file_id or "", content),
        workflow_id=workflow_id,
        run_id=run_id,
        round=round,
        kind=kind,
        content=content,
        file_id=file_id,
    )


def remember_rounds(
    database: UnitOfWork[KnowledgeSession],
    embed: EmbedTexts,
    principal: Principal,
    memories: Sequence[RoundMemory],
    question: StoredMessage | None = None,
) -> None:
    """Store what rounds did, and let their question be found by meaning if it is a memory; one embedding for all.

    Raises StorageUnavailable, and what `embed` raises; files are stored by then.
    """
    files = [memory for memory in memories if memory.kind == "fileRef"]
    texts = [memory for memory in memories if memory.kind != "fileRef" and memory.content.strip()]
    with database.session(principal) as session:
        session.knowledge.memory.add_rounds(files, None)
    said = [question] if question and (question.importance or 0) >= WORTHLESS else []
    if texts or said:
        contents = [memory.content for memory in texts]
        embedded = embed([*contents, *(essence(message.content, _LONGEST_CONTENT) for message in said)], "passage")
        with database.session(principal) as session:
            session.knowledge.memory.add_rounds(texts, embedded)
            for message in said:
                vector = QueryVector(embedded.vectors[-1], embedded.model_id)
                session.knowledge.remembered.set_vector(message.id, vector)
