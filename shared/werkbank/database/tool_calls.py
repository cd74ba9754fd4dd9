"""The ledger of tool calls: what waits for consent, and what is read. Claiming and completing are in steps.py."""

from werkbank.database.store import Store
from werkbank.domain.trace import OpenConfirmation, ToolCallLog, WaitingCall

_COLUMNS = ", ".join(ToolCallLog.model_fields)
_KEY = "run_id = %s AND round = %s AND call_id = %s"


class ToolCalls(Store):
    """The tool calls of the principal's runs."""

    def await_consent(self, run_id: str, round: int, call_id: str, task_token: str) -> ToolCallLog | None:
        """Note that a call waits for consent and what wakes it up; None if it waits or is decided already."""
        return self._find(
            ToolCallLog,
            f"UPDATE tool_call SET task_token = %s, asked_at = clock_timestamp() WHERE {_KEY}"
            f" AND task_token IS NULL AND status = 'requested' RETURNING {_COLUMNS}",
            (task_token, run_id, round, call_id),
        )

    def renew_token(self, run_id: str, round: int, call_id: str, task_token: str) -> ToolCallLog | None:
        """Replace what wakes a waiting call up, as a retried state brings a new token; None if it is decided."""
        return self._find(
            ToolCallLog,
            f"UPDATE tool_call SET task_token = %s WHERE {_KEY} AND approved IS NULL AND status = 'requested'"
            f" RETURNING {_COLUMNS}",
            (task_token, run_id, round, call_id),
        )

    def open_confirmations(self) -> tuple[WaitingCall, ...]:
        """Return the calls of running runs that wait for consent, the oldest first."""
        columns = ", ".join(f"c.{name}" for name in OpenConfirmation.model_fields)
        return self._list(
            WaitingCall,
            f"SELECT {columns}, r.workflow_id, w.title, r.session_id, r.trusted FROM tool_call c"
            " JOIN run r ON r.id = c.run_id AND r.status = 'running' JOIN workflow w ON w.id = r.workflow_id"
            " WHERE c.task_token IS NOT NULL AND c.approved IS NULL AND c.status = 'requested' ORDER BY c.asked_at",
        )

    def decide(self, run_id: str, round: int, call_id: str, approved: bool) -> OpenConfirmation | None:
        """Record what the user said; the same again changes nothing. None when nobody asks or the word was another."""
        columns = ", ".join(OpenConfirmation.model_fields)
        return self._find(
            OpenConfirmation,
            f"UPDATE tool_call SET approved = %s WHERE {_KEY} AND task_token IS NOT NULL AND status = 'requested'"
            f" AND coalesce(approved, %s) = %s RETURNING {columns}",
            (approved, run_id, round, call_id, approved, approved),
        )

    def get(self, run_id: str, round: int, call_id: str) -> ToolCallLog:
        """Return a call. Raises NotFound."""
        sql = f"SELECT {_COLUMNS} FROM tool_call WHERE {_KEY}"
        return self._get(ToolCallLog, "tool call", sql, (run_id, round, call_id))

    def is_first_of_its_tool(self, call: ToolCallLog) -> bool:
        """Tell whether no earlier call of the same round is to the same tool."""
        sql = "SELECT 1 FROM tool_call WHERE run_id = %s AND round = %s AND name = %s AND position < %s LIMIT 1"
        return self._row(sql, (call.run_id, call.round, call.name, call.position)) is None

    def of_run(self, run_id: str) -> tuple[ToolCallLog, ...]:
        """Return a run's calls in the model's order."""
        sql = f"SELECT {_COLUMNS} FROM tool_call WHERE run_id = %s ORDER BY round, position"
        return self._list(ToolCallLog, sql, (run_id,))

    def cut_short(self, workflow_id: str, limit: int) -> tuple[ToolCallLog, ...]:
        """Return the latest calls that may have had an effect of which no answer told: their runs were cut short."""
        columns = ", ".join(f"c.{name}" for name in ToolCallLog.model_fields)
        return self._list(
            ToolCallLog,
            f"""SELECT {columns} FROM tool_call c JOIN run r ON r.id = c.run_id
                WHERE r.workflow_id = %s AND r.status IN ('stopped', 'error')
                    AND NOT c.read_only AND c.status IN ('claimed', 'succeeded', 'unknown')
                ORDER BY r.started_at DESC, c.round DESC, c.position DESC LIMIT %s""",
            (workflow_id, limit),
        )

    def of_workflow(self, workflow_id: str) -> tuple[ToolCallLog, ...]:
        """Return the calls of all of a conversation's runs."""
        sql = (
            f"SELECT {_COLUMNS} FROM tool_call WHERE run_id IN (SELECT id FROM run WHERE workflow_id = %s)"
            " ORDER BY run_id, round, position"
        )
        return self._list(ToolCallLog, sql, (workflow_id,))
