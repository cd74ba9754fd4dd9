"""The ledger as it is read. What moves money is a step, see steps.py."""

from datetime import datetime

from werkbank.database.store import Store
from werkbank.domain.billing import Charge, KindTotal, UsageDimension, UsageTotal

# What a dimension groups by, how a group is called, and where that stands.
_DIMENSIONS: dict[UsageDimension, tuple[str, str, str]] = {
    "workflow": ("b.workflow_id", "w.title", "LEFT JOIN workflow w ON w.id = b.workflow_id"),
    "user": ("b.user_id", "NULL::text", ""),
    "instance": ("b.instance_id", "i.label", "LEFT JOIN feature_instance i ON i.id = b.instance_id"),
    "model": ("b.model", "NULL::text", ""),
}
_MOST_TOTALS = 1_000


class Ledger(Store):
    """The mandate's ledger."""

    def settle_dead(self) -> None:
        """Settle what functions reserved and died with, at the full reservation, so that it does not bind the limit.

        No function lives longer than 15 minutes (Lambda's limit), so what is reserved for longer has nobody left.
        """
        self._run("SELECT werkbank.settle_abandoned(NULL, NULL)")

    def charges(self, run_id: str) -> tuple[Charge, ...]:
        """Return what a run's calls cost, in order."""
        columns = ", ".join(Charge.model_fields)
        return self._list(
            Charge,
            f"SELECT {columns} FROM billing_transaction WHERE run_id = %s ORDER BY created_at, id",
            (run_id,),
        )

    def by_kind(self, run_id: str | None = None) -> tuple[KindTotal, ...]:
        """Return settled costs by kind of call, the highest first: a run's, or the whole mandate's."""
        return self._list(
            KindTotal,
            """SELECT kind, count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
                   sum(cost_chf) AS cost_chf
               FROM billing_transaction WHERE status = 'settled' AND (%(run)s::uuid IS NULL OR run_id = %(run)s)
               GROUP BY kind ORDER BY sum(cost_chf) DESC, kind""",
            {"run": run_id},
        )

    def totals(self, by: UsageDimension, since: datetime | None) -> tuple[UsageTotal, ...]:
        """Return settled costs by what they were for, the highest first: an administrator's of the whole mandate.

        Others get their own. `since` None is from the beginning.
        """
        key, label, source = _DIMENSIONS[by]
        return self._list(
            UsageTotal,
            f"""SELECT {key}::text AS id, max({label}) AS label, count(*) AS calls, sum(b.input_tokens) AS input_tokens,
                   sum(b.output_tokens) AS output_tokens, sum(b.cost_chf) AS cost_chf
                FROM billing_transaction b {source}
                WHERE b.status = 'settled' AND b.created_at >= coalesce(%s::timestamptz, '-infinity')
                    AND (werkbank.has_role('admin') OR b.user_id = %s)
                GROUP BY {key} ORDER BY sum(b.cost_chf) DESC, {key} LIMIT {_MOST_TOTALS}""",
            (since, self._principal.user_id),
        )
