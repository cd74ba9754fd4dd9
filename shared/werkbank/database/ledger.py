"""The ledger as it is read. What moves money is a step, see steps.py and infra/migrations/0012_reserve.sql."""

from werkbank.database.store import Store
from werkbank.domain.billing import Charge, KindTotal


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

    def by_kind(self) -> tuple[KindTotal, ...]:
        """Return the mandate's settled costs by kind of call."""
        return self._list(
            KindTotal,
            "SELECT kind, count(*) AS calls, sum(cost_chf) AS cost_chf FROM billing_transaction"
            " WHERE status = 'settled' GROUP BY kind ORDER BY sum(cost_chf) DESC, kind",
        )
