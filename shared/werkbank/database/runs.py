"""Runs and the log of their rounds."""

from datetime import timedelta

from psycopg.types.json import Jsonb

from werkbank.database.preferences import WEB_SEARCH_ENABLED
from werkbank.database.store import Store
from werkbank.domain.billing import closing_reserve
from werkbank.domain.errors import NotFound, RunOver
from werkbank.domain.money import round_chf
from werkbank.domain.runs import Run, RunStatus
from werkbank.domain.trace import AgentRoundLog, Progress, ToolCallLog

_COLUMNS = ", ".join(Run.model_fields)
_CALL = ", ".join(f"'{name}', {name}" for name in ToolCallLog.model_fields if name != "result")


class Runs(Store):
    """The principal's own runs."""

    def add(self, run: Run) -> bool:
        """Insert a run with what its user's preferences are now; False if one with this id exists already."""
        cap = run.config.max_cost_chf
        inserted = self._touched(
            f"""INSERT INTO run (id, mandate_id, user_id, workflow_id, file_id, parent_id, kind, config, roles, zone,
                   language, session_id, trusted, max_cost_chf, closing_chf, started_at, web_search_enabled)
               VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s,
                   coalesce((SELECT web_search_enabled FROM run WHERE id = %s), {WEB_SEARCH_ENABLED}))
               ON CONFLICT (id) DO NOTHING""",
            (
                run.id, self._principal.mandate_id, self._principal.user_id, run.workflow_id, run.file_id,
                run.parent_id, run.kind, Jsonb(run.config.to_wire()), sorted(run.roles), run.zone, run.language,
                run.session_id, run.trusted, round_chf(cap) if cap is not None else None, closing_reserve(cap),
                run.started_at, run.parent_id,
            ),
        )  # fmt: skip
        return inserted == 1

    def get(self, run_id: str) -> Run:
        """Return a run. Raises NotFound."""
        return self._get(Run, "run", f"SELECT {_COLUMNS} FROM run WHERE id = %s", (run_id,))

    def progress(self, run_id: str, latest: int) -> Progress:
        """Return a run with what it has done and its `latest` calls, without their results. Raises NotFound."""
        row = self._row(
            f"""SELECT {_COLUMNS}, (SELECT count(*) FROM tool_call WHERE run_id = run.id) AS tool_calls,
                   ARRAY(SELECT content FROM message WHERE run_id = run.id AND role = 'assistant'
                         ORDER BY round) AS said,
                   ARRAY(SELECT jsonb_build_object({_CALL}) FROM tool_call WHERE run_id = run.id
                         ORDER BY round DESC, position DESC LIMIT %s) AS latest_calls
                FROM run WHERE id = %s""",
            (latest, run_id),
        )
        if row is None:
            raise NotFound("There is no such run, or it is not yours.")
        return Progress(
            run=Run.model_validate({name: row[name] for name in Run.model_fields}),
            said=row["said"],
            tool_calls=row["tool_calls"],
            latest_calls=tuple(map(ToolCallLog.model_validate, reversed(row["latest_calls"]))),
        )

    def find(self, run_id: str) -> Run | None:
        """Return a run if the principal has it."""
        return self._find(Run, f"SELECT {_COLUMNS} FROM run WHERE id = %s", (run_id,))

    def of_workflow(self, workflow_id: str) -> tuple[Run, ...]:
        """Return a conversation's runs in order."""
        return self._list(Run, f"SELECT {_COLUMNS} FROM run WHERE workflow_id = %s ORDER BY started_at", (workflow_id,))

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

    def begin_round(self, run_id: str, round: int) -> int:
        """Note that a round is being tried; return which try this is, from 1."""
        row = self._row(
            """INSERT INTO round_log (run_id, round, mandate_id, user_id) VALUES (%s, %s, %s, %s)
               ON CONFLICT (run_id, round) DO UPDATE SET attempts = round_log.attempts + 1 RETURNING attempts""",
            (run_id, round, self._principal.mandate_id, self._principal.user_id),
        )
        return int(row["attempts"]) if row else 1

    def end_round(self, run_id: str, log: AgentRoundLog) -> None:
        """Record how a round of a running run went and count it. Raises RunOver when the run has ended."""
        self._run(
            """UPDATE round_log SET model = %s, instead_of = %s, answered_under = %s, stop_reason = %s,
                   input_tokens = %s, output_tokens = %s, cached_input_tokens = %s, cost_chf = %s, duration_ms = %s
               WHERE run_id = %s AND round = %s""",
            (
                log.model, log.instead_of, log.answered_under, log.stop_reason, log.input_tokens, log.output_tokens,
                log.cached_input_tokens, log.cost_chf, log.duration_ms, run_id, log.round,
            ),
        )  # fmt: skip
        count = "UPDATE run SET rounds = greatest(rounds, %s) WHERE id = %s AND status = 'running'"
        if not self._touched(count, (log.round, run_id)):
            raise RunOver(f"run {run_id} has ended")

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
