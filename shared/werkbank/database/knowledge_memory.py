"""What runs remember: of rounds, and of a workflow as a whole."""

from collections.abc import Sequence

from werkbank.database.store import Store
from werkbank.database.vectors import as_vector
from werkbank.knowledge.model import Embedded, QueryVector, RoundMemory, WorkflowFact

_ROUND_COLUMNS = "id, workflow_id, run_id, round, kind, content, file_id"


class Memories(Store):
    """Memories of the principal's own workflows."""

    def add_rounds(self, memories: Sequence[RoundMemory], embedded: Embedded | None) -> None:
        """Store memories, their vectors in the same order; those already stored stay as they are."""
        for position, memory in enumerate(memories):
            self._run(
                f"""INSERT INTO round_memory ({_ROUND_COLUMNS}, mandate_id, user_id, embedding_model, embedding)
                    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO NOTHING""",
                (
                    memory.id, memory.workflow_id, memory.run_id, memory.round, memory.kind,
                    memory.content, memory.file_id,
                    self._principal.mandate_id, self._principal.user_id,
                    embedded.model_id if embedded else None,
                    as_vector(embedded.vectors[position]) if embedded else None,
                ),
            )  # fmt: skip

    def known_files(self, workflow_id: str, limit: int) -> tuple[RoundMemory, ...]:
        """Return the latest memory of each file that the workflow used and that is still visible, newest first."""
        return self._list(
            RoundMemory,
            f"""SELECT {_ROUND_COLUMNS} FROM (
                    SELECT DISTINCT ON (file_id) {_ROUND_COLUMNS}, created_at FROM round_memory
                    WHERE workflow_id = %s AND kind = 'fileRef' AND file_id IN (SELECT id FROM file_item)
                    ORDER BY file_id, created_at DESC) latest
                ORDER BY created_at DESC, id LIMIT %s""",
            (workflow_id, limit),
        )

    def similar_rounds(self, workflow_id: str, vector: QueryVector, limit: int) -> tuple[RoundMemory, ...]:
        """Return the workflow's tool results and decisions nearest to the vector."""
        return self._nearest("workflow_id = %(workflow)s", workflow_id, vector, limit)

    def related_rounds(self, workflow_id: str, vector: QueryVector, limit: int) -> tuple[RoundMemory, ...]:
        """Return the nearest tool results and decisions of the principal's other workflows."""
        return self._nearest("workflow_id <> %(workflow)s", workflow_id, vector, limit)

    def set_fact(self, fact: WorkflowFact) -> None:
        """Store what a workflow knows under a key, over what it knew before."""
        self._run(
            """INSERT INTO workflow_memory (workflow_id, key, value, source, mandate_id, user_id)
               VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (workflow_id, key)
               DO UPDATE SET value = excluded.value, source = excluded.source, updated_at = now()""",
            (
                fact.workflow_id, fact.key, fact.value, fact.source,
                self._principal.mandate_id, self._principal.user_id,
            ),
        )  # fmt: skip

    def facts(self, workflow_id: str, limit: int) -> tuple[WorkflowFact, ...]:
        """Return what the workflow knows, latest first; summaries of its rounds are no facts."""
        return self._list(
            WorkflowFact,
            "SELECT workflow_id, key, value, source FROM workflow_memory WHERE workflow_id = %s AND source <> 'summary'"
            " ORDER BY updated_at DESC, key LIMIT %s",
            (workflow_id, limit),
        )

    def summaries(self, workflow_id: str, prefix: str) -> tuple[WorkflowFact, ...]:
        """Return the summaries whose keys begin so."""
        return self._list(
            WorkflowFact,
            "SELECT workflow_id, key, value, source FROM workflow_memory"
            " WHERE workflow_id = %s AND source = 'summary' AND starts_with(key, %s) ORDER BY key",
            (workflow_id, prefix),
        )

    def _nearest(self, where: str, workflow_id: str, vector: QueryVector, limit: int) -> tuple[RoundMemory, ...]:
        # A person's memories are few: no index, an exact search.
        return self._list(
            RoundMemory,
            f"""SELECT {_ROUND_COLUMNS} FROM round_memory
                WHERE {where} AND kind <> 'fileRef' AND embedding_model = %(model)s
                ORDER BY embedding <=> %(vector)s::halfvec, id LIMIT %(limit)s""",
            {"workflow": workflow_id, "model": vector.model_id, "vector": as_vector(vector.vector), "limit": limit},
        )
