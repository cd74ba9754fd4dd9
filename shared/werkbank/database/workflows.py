"""Conversations."""

from werkbank.database.store import Store
from werkbank.domain.errors import NotFound
from werkbank.domain.runs import Workflow

_COLUMNS = ", ".join(Workflow.model_fields)


class Workflows(Store):
    """The principal's own conversations."""

    def ensure(self, workflow_id: str, title: str, instance_id: str | None) -> Workflow:
        """Create the conversation unless it exists; move it to the top.

        Raises NotFound if it is somebody else's, or belongs to a feature instance that the principal is no member of.
        """
        if instance_id and not self._rows(
            "SELECT 1 FROM feature_instance_member WHERE instance_id = %s AND user_id = %s",
            (instance_id, self._principal.user_id),
        ):
            raise NotFound("There is no such feature instance, or you are not a member of it.")
        self._run(
            "INSERT INTO workflow (id, mandate_id, user_id, instance_id, title) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (id) DO NOTHING",
            (workflow_id, self._principal.mandate_id, self._principal.user_id, instance_id, title),
        )
        self._run("UPDATE workflow SET updated_at = now() WHERE id = %s", (workflow_id,))
        return self.get(workflow_id)

    def get(self, workflow_id: str) -> Workflow:
        """Return a conversation. Raises NotFound."""
        return self._get(Workflow, "conversation", f"SELECT {_COLUMNS} FROM workflow WHERE id = %s", (workflow_id,))

    def list(self, search: str | None = None, limit: int = 200) -> list[dict[str, object]]:
        """Return conversations, the latest first, each with its last run; `search` looks in titles and messages."""
        return self._rows(
            """SELECT w.id, w.title, w.created_at, w.updated_at, r.id AS last_run_id, r.status AS last_run_status
               FROM workflow w LEFT JOIN LATERAL (
                   SELECT id, status FROM run WHERE workflow_id = w.id ORDER BY started_at DESC LIMIT 1) r ON true
               WHERE %(search)s::text IS NULL OR position(lower(%(search)s) IN lower(w.title)) > 0 OR EXISTS (
                   SELECT 1 FROM message m WHERE m.workflow_id = w.id
                   AND position(lower(%(search)s) IN lower(m.content)) > 0)
               ORDER BY w.updated_at DESC LIMIT %(limit)s""",
            {"search": search, "limit": limit},
        )

    def rename(self, workflow_id: str, title: str) -> Workflow:
        """Give a conversation another title. Raises NotFound."""
        self._run("UPDATE workflow SET title = %s WHERE id = %s", (title, workflow_id))
        return self.get(workflow_id)

    def delete(self, workflow_id: str) -> None:
        """Remove a conversation with its messages, runs and events; the ledger keeps what it cost. Raises NotFound."""
        self.get(workflow_id)
        self._run("DELETE FROM workflow WHERE id = %s", (workflow_id,))
