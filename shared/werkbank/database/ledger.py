"""The ledger: money is reserved before a call and settled after it.

A reservation is one conditional update of the run's running sums and one of the mandate's, so that concurrent rounds
cannot overspend whatever their order: each waits for the other's row lock and then sees its sum (AG-06).
"""

from decimal import Decimal

from werkbank.database.store import Store
from werkbank.domain.billing import Charge, KindTotal, Reservation
from werkbank.domain.errors import BudgetExceeded
from werkbank.domain.messages import Usage


class Ledger(Store):
    """The mandate's ledger."""

    def reserve(self, reservation: Reservation) -> None:
        """Reserve an amount. Raises BudgetExceeded when the run's cap or the mandate's limit would be passed.

        What costs nothing (the offline model) is never refused.
        """
        amount = reservation.amount_chf
        if reservation.run_id and not self._touched(
            "UPDATE run SET reserved_chf = reserved_chf + %(amount)s WHERE id = %(run)s"
            " AND (max_cost_chf IS NULL OR %(amount)s = 0 OR spent_chf + reserved_chf + %(amount)s <= max_cost_chf)",
            {"amount": amount, "run": reservation.run_id},
        ):
            raise BudgetExceeded("The next model call could cost more than is left of this question's budget.")
        if not self._touched(
            "UPDATE mandate SET reserved_chf = reserved_chf + %(amount)s WHERE id = %(mandate)s"
            " AND (limit_chf IS NULL OR %(amount)s = 0 OR spent_chf + reserved_chf + %(amount)s <= limit_chf)",
            {"amount": amount, "mandate": self._principal.mandate_id},
        ):
            raise BudgetExceeded("Your organisation's budget is used up. An administrator can raise its limit.")
        self._run(
            """INSERT INTO billing_transaction (id, mandate_id, user_id, instance_id, workflow_id, run_id, round, kind,
                   model, reserved_chf) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
            (
                reservation.id, self._principal.mandate_id, self._principal.user_id, reservation.instance_id,
                reservation.workflow_id, reservation.run_id, reservation.round, reservation.kind, reservation.model,
                amount,
            ),
        )  # fmt: skip

    def settle(self, reservation_id: str, cost_chf: Decimal, usage: Usage) -> None:
        """Replace a reservation by what the call really cost; a second settlement changes nothing."""
        row = self._row(
            """UPDATE billing_transaction SET status = 'settled', cost_chf = %s, input_tokens = %s, output_tokens = %s,
                   cached_input_tokens = %s, settled_at = now() WHERE id = %s AND status = 'reserved'
               RETURNING run_id, reserved_chf""",
            (cost_chf, usage.input_tokens, usage.output_tokens, usage.cached_input_tokens, reservation_id),
        )
        if row:
            self._move(row["run_id"], row["reserved_chf"], cost_chf)

    def release(self, reservation_id: str) -> None:
        """Give a reservation back: the call did not take place."""
        row = self._row(
            "UPDATE billing_transaction SET status = 'released', settled_at = now()"
            " WHERE id = %s AND status = 'reserved' RETURNING run_id, reserved_chf",
            (reservation_id,),
        )
        if row:
            self._move(row["run_id"], row["reserved_chf"], Decimal(0))

    def settle_abandoned(self, run_id: str, round: int) -> None:
        """Settle what an earlier try of this round reserved and died with, at the full reservation.

        The provider may have billed it; a cap that could be passed by crashing would be none.
        """
        rows = self._rows(
            """UPDATE billing_transaction SET status = 'settled', cost_chf = reserved_chf, settled_at = now()
               WHERE run_id = %s AND round = %s AND status = 'reserved' RETURNING reserved_chf""",
            (run_id, round),
        )
        for row in rows:
            self._move(run_id, row["reserved_chf"], row["reserved_chf"])

    def settle_dead(self) -> None:
        """Settle what functions reserved and died with, at the full reservation, so that it does not bind the limit.

        No function lives longer than 15 minutes (Lambda's limit), so what is reserved for longer has nobody left.
        """
        rows = self._rows(
            """UPDATE billing_transaction SET status = 'settled', cost_chf = reserved_chf, settled_at = now()
               WHERE mandate_id = %s AND status = 'reserved' AND created_at < now() - interval '20 minutes'
               RETURNING run_id, reserved_chf""",
            (self._principal.mandate_id,),
        )
        for row in rows:
            self._move(row["run_id"], row["reserved_chf"], row["reserved_chf"])

    def remaining(self, run_id: str) -> Decimal | None:
        """Return what the run may still reserve under its own cap and the mandate's limit; None without either."""
        row = self._row(
            """SELECT least(r.max_cost_chf - r.spent_chf - r.reserved_chf, m.limit_chf - m.spent_chf - m.reserved_chf)
                   AS left FROM run r JOIN mandate m ON m.id = r.mandate_id WHERE r.id = %s""",
            (run_id,),
        )
        return row["left"] if row else None

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

    def _move(self, run_id: str | None, reserved_chf: Decimal, cost_chf: Decimal) -> None:
        sums = "SET reserved_chf = reserved_chf - %(reserved)s, spent_chf = spent_chf + %(cost)s WHERE id = %(id)s"
        amounts = {"reserved": reserved_chf, "cost": cost_chf}
        if run_id:
            self._run(f"UPDATE run {sums}", amounts | {"id": run_id})
        self._run(f"UPDATE mandate {sums}", amounts | {"id": self._principal.mandate_id})
