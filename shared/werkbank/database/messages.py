"""Messages: what a person and the model said."""

from psycopg.types.json import Jsonb

from werkbank.database.remembered import words_of
from werkbank.database.store import Store
from werkbank.domain.runs import Citation, StoredMessage

_TRUSTED = "(SELECT trusted FROM run WHERE run.id = message.run_id) AS trusted"
_COLUMNS = ", ".join(_TRUSTED if name == "trusted" else name for name in StoredMessage.model_fields)


class Messages(Store):
    """The messages of the principal's conversations."""

    def add(self, message: StoredMessage) -> StoredMessage:
        """Insert a message; one per (run, round, role), so that a repeated insert returns what is there already."""
        return self._get(
            StoredMessage,
            "message",
            f"""INSERT INTO message (id, mandate_id, user_id, workflow_id, run_id, round, role, content, context,
                   tool_calls, provider_data, file_ids, citations, partial, importance, pinned, words, created_at)
               VALUES (%(id)s, %(mandate)s, %(user)s, %(workflow)s, %(run)s, %(round)s, %(role)s, %(content)s,
                   %(context)s, %(calls)s, %(provider)s, %(files)s::uuid[], %(citations)s, %(partial)s,
                   %(importance)s, %(pinned)s,
                   CASE WHEN %(importance)s::real IS NOT NULL THEN {words_of("%(content)s::text")} END, %(at)s)
               ON CONFLICT (run_id, round, role) DO UPDATE SET round = excluded.round RETURNING {_COLUMNS}""",
            {
                "id": message.id, "mandate": self._principal.mandate_id, "user": self._principal.user_id,
                "workflow": message.workflow_id, "run": message.run_id, "round": message.round, "role": message.role,
                "content": message.content, "context": message.context,
                "calls": Jsonb([call.to_wire() for call in message.tool_calls]),
                "provider": Jsonb(message.provider_data) if message.provider_data is not None else None,
                "files": list(message.file_ids), "citations": Jsonb([c.to_wire() for c in message.citations]),
                "partial": message.partial, "importance": message.importance, "pinned": message.pinned,
                "at": message.created_at,
            },
        )  # fmt: skip

    def answer(self, run_id: str, round: int) -> StoredMessage | None:
        """Return what the model said in this round, if it has."""
        return self._find(
            StoredMessage,
            f"SELECT {_COLUMNS} FROM message WHERE run_id = %s AND round = %s AND role = 'assistant'",
            (run_id, round),
        )

    def last_answer(self, run_id: str) -> StoredMessage | None:
        """Return the last thing the model said in this run."""
        return self._find(
            StoredMessage,
            f"SELECT {_COLUMNS} FROM message WHERE run_id = %s AND role = 'assistant' ORDER BY round DESC LIMIT 1",
            (run_id,),
        )

    def of_workflow(self, workflow_id: str) -> tuple[StoredMessage, ...]:
        """Return a conversation's messages in order."""
        return self._list(
            StoredMessage,
            f"SELECT {_COLUMNS} FROM message WHERE workflow_id = %s ORDER BY position",
            (workflow_id,),
        )

    def set_context(self, message_id: str, context: str) -> str:
        """Fix what the model is told along with a question, unless it is fixed already; return what it is."""
        row = self._row(
            "UPDATE message SET context = coalesce(context, %s) WHERE id = %s RETURNING context", (context, message_id)
        )
        return row["context"] if row else context

    def set_citations(self, message_id: str, citations: tuple[Citation, ...]) -> None:
        """Record the sources that an answer cites."""
        self._run(
            "UPDATE message SET citations = %s WHERE id = %s", (Jsonb([c.to_wire() for c in citations]), message_id)
        )
