"""The ledger: money is reserved before a call and settled after it.

What moves money is a function of the database, see infra/migrations/0012_reserve.sql: concurrent rounds cannot
overspend whatever their order, since each waits for the other's lock and then sees its sums (AG-06).
"""

from decimal import Decimal

from werkbank.database.store import Store
from werkbank.domain.billing import Charge, KindTotal, Preflight, Reservation
from werkbank.domain.errors import BudgetExceeded
from werkbank.domain.messages import Usage

_REFUSED = {
    "run": "The next model call could cost more than is left of this question's budget.",
    "mandate": "Your organisation's budget is used up. An administrator can raise its limit.",
}


class Ledger(Store):
    """The mandate's ledger."""

    def reserve(self, reservation: Reservation) -> None:
        """Reserve an amount. Raises BudgetExceeded when a cap or the mandate's limit would be passed.

        What costs nothing (the offline model) is never refused.
        """
        row = self._row(
            "SELECT werkbank.reserve(%s, %s, %s, %s, %s, %s, %s, %s, %s) AS refused_by",
            (
                reservation.id, reservation.amount_chf, reservation.kind, reservation.model, reservation.run_id,
                reservation.round, reservation.workflow_id, reservation.instance_id, reservation.is_closing,
            ),
        )  # fmt: skip
        if row and row["refused_by"]:
            raise BudgetExceeded(_REFUSED[row["refused_by"]])

    def settle(self, reservation_id: str, cost_chf: Decimal, usage: Usage) -> None:
        """Replace a reservation by what the call really cost; a second settlement changes nothing."""
        self._run(
            "SELECT werkbank.settle(%s, %s, %s, %s, %s)",
            (reservation_id, cost_chf, usage.input_tokens, usage.output_tokens, usage.cached_input_tokens),
        )

    def release(self, reservation_id: str) -> None:
        """Give a reservation back: the call did not take place."""
        self._run("SELECT werkbank.settle(%s, NULL, 0, 0, 0)", (reservation_id,))

    def settle_abandoned(self, run_id: str, round: int) -> None:
        """Settle what an earlier try of this round reserved and died with, at the full reservation.

        The provider may have billed it; a cap that could be passed by crashing would be none.
        """
        self._run("SELECT werkbank.settle_abandoned(%s, %s)", (run_id, round))

    def settle_dead(self) -> None:
        """Settle what functions reserved and died with, at the full reservation, so that it does not bind the limit.

        No function lives longer than 15 minutes (Lambda's limit), so what is reserved for longer has nobody left.
        """
        self._run("SELECT werkbank.settle_abandoned(NULL, NULL)")

    def preflight(self, run_id: str | None, *, is_closing: bool) -> Preflight:
        """Return what the mandate lets the principal use, and what its run may still reserve.

        That is the least of what the run's cap, its parents' and the mandate's limit leave.
        """
        return self._get(
            Preflight,
            "run",
            """SELECT werkbank.remaining(%s, %s) AS remaining_chf, ARRAY(
                   SELECT jsonb_build_object('role', role, 'providers', providers, 'models', models)
                   FROM model_right WHERE role = '' OR role = ANY (%s)) AS rights""",
            (run_id, is_closing, sorted(self._principal.roles)),
        )

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
