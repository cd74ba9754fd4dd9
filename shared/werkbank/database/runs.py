"""Runs and the log of their rounds."""

from datetime import timedelta

from psycopg.types.json import Jsonb

from werkbank.database.preferences import WEB_SEARCH_ENABLED
from werkbank.database.store import Store
from werkbank.domain.billing import CLOSING_SHARE, closing_reserve
from werkbank.domain.money import ZERO_CHF, round_chf
from werkbank.domain.runs import Run, RunStatus
from werkbank.domain.trace import AgentRoundLog

_COLUMNS = ", ".join(Run.model_fields)


class Runs(Store):
    """The principal's own runs."""

    def add(self, run: Run) -> bool:
        """Insert a run with what its user's preferences are now; False if one with this id exists already.

        A question keeps for its closing text what its cap says, but no more than a share of what the mandate has left.
        """
        cap = run.config.max_cost_chf
        inserted = self._touched(
            f"""INSERT INTO run (id, mandate_id, user_id, workflow_id, file_id, parent_id, kind, config, roles, zone,
                   language, session_id, trusted, max_cost_chf, closing_chf, started_at, web_search_enabled)
               VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, greatest(0, least(%s, (
                       SELECT (limit_chf - spent_chf - reserved_chf) * %s FROM mandate WHERE id = %s))), %s,
                   coalesce((SELECT web_search_enabled FROM run WHERE id = %s), {WEB_SEARCH_ENABLED}))
               ON CONFLICT (id) DO NOTHING""",
            (
                run.id, self._principal.mandate_id, self._principal.user_id, run.workflow_id, run.file_id,
                run.parent_id, run.kind, Jsonb(run.config.to_wire()), sorted(run.roles), run.zone, run.language,
                run.session_id, run.trusted, round_chf(cap) if cap is not None else None,
                closing_reserve(cap) if run.kind == "agent" else ZERO_CHF, CLOSING_SHARE, self._principal.mandate_id,
                run.started_at, run.parent_id,
            ),
        )  # fmt: skip
        return inserted == 1

    def get(self, run_id: str) -> Run:
        """Return a run. Raises NotFound."""
        return self._get(Run, "run", f"SELECT {_COLUMNS} FROM run WHERE id = %s", (run_id,))

    def find(self, run_id: str) -> Run | None:
        """Return a run if the principal has it."""
        return self._find(Run, f"SELECT {_COLUMNS} FROM run WHERE id = %s", (run_id,))

    def of_workflow(self, workflow_id: str) -> tuple[Run, ...]:
        """Return a conversation's runs in order."""
        return self._list(Run, f"SELECT {_COLUMNS} FROM run WHERE workflow_id = %s ORDER BY started_at", (workflow_id,))

    def going(self, workflow_id: str) -> tuple[Run, ...]:
        """Return a conversation's questions that are being answered, without those that only help another one."""
        return self._list(
            Run,
            f"SELECT {_COLUMNS} FROM run WHERE workflow_id = %s AND status = 'running' AND parent_id IS NULL",
            (workflow_id,),
        )

    def lock_running(self, run_id: str) -> Run | None:
        """Return the run locked for this transaction if it is still running, else None."""
        return self._find(Run, f"SELECT {_COLUMNS} FROM run WHERE id = %s AND status = 'running' FOR UPDATE", (run_id,))

    def conclude(self, run_id: str, status: RunStatus, reason: str | None) -> None:
        """Mark a running run as ended. Its last event must be appended before."""
        self._run(
            "UPDATE run SET status = %s, abort_reason = %s, completed_at = clock_timestamp()"
            " WHERE id = %s AND status = 'running'",
            (status, reason, run_id),
        )

    def set_remembered(self, run_id: str) -> None:
        """Note that what a run leaves behind has been stored."""
        self._run("UPDATE run SET remembered_at = clock_timestamp() WHERE id = %s", (run_id,))

    def grant_rounds(self, run_id: str, rounds: int) -> Run:
        """Let a run have more rounds; return it. Raises NotFound."""
        self._run("UPDATE run SET extra_rounds = extra_rounds + %s WHERE id = %s", (rounds, run_id))
        return self.get(run_id)

    def grant_toolbox(self, run_id: str, toolbox: str) -> None:
        """Let a run have a toolbox from its next round on; a second grant changes nothing."""
        self._run(
            "UPDATE run SET granted_toolboxes = granted_toolboxes || %s"
            " WHERE id = %s AND NOT %s = ANY (granted_toolboxes)",
            ([toolbox], run_id, toolbox),
        )

    def rounds(self, run_id: str) -> tuple[AgentRoundLog, ...]:
        """Return the log of a run's rounds, without their tool calls."""
        columns = ", ".join(name for name in AgentRoundLog.model_fields if name != "tool_calls")
        return self._list(AgentRoundLog, f"SELECT {columns} FROM round_log WHERE run_id = %s ORDER BY round", (run_id,))

    def working_time(self, run_id: str) -> timedelta:
        """Return how long a run has been going, without the time its calls waited for their user."""
        row = self._row(
            """SELECT clock_timestamp() - r.started_at - coalesce(
                   (SELECT sum(upper(wait) - lower(wait))
                    FROM (SELECT unnest(range_agg(tstzrange(asked_at, claimed_at))) FROM tool_call
                          WHERE run_id = r.id AND asked_at <= claimed_at) AS waits (wait)), interval '0') AS worked
               FROM run r WHERE r.id = %s""",
            (run_id,),
        )
        worked: timedelta = row["worked"] if row else timedelta()
        return worked
