"""Mandates (tenants) and their money.

A mandate's limit is all that it may ever spend. A prepaid balance is the same number: what was paid in so far is the
limit, a top-up raises it, and what is left is the limit less what is spent.
"""

from decimal import Decimal

from werkbank.database.store import Store


class Mandates(Store):
    """The principal's own mandate. Amounts are in CHF; a limit of None is none."""

    def ensure(self, highest_chf: Decimal | None) -> None:
        """Create the mandate on first contact, and hold it to the highest limit that the operator allows now."""
        mandate_id = self._principal.mandate_id
        self._run(
            "INSERT INTO mandate (id, limit_chf) VALUES (%s, %s) ON CONFLICT (id) DO NOTHING", (mandate_id, highest_chf)
        )
        # Apart from that statement, which would lock the row even where nothing changes.
        self._run(
            "UPDATE mandate SET limit_chf = least(chosen_limit_chf, %(highest)s::numeric)"
            " WHERE id = %(id)s AND limit_chf IS DISTINCT FROM least(chosen_limit_chf, %(highest)s::numeric)",
            {"id": mandate_id, "highest": highest_chf},
        )

    def choose_limit(self, chosen_chf: Decimal | None, highest_chf: Decimal | None) -> None:
        """Set the administrators' own limit, from the next reservation on; None leaves the operator's.

        One below what is spent refuses every further call that costs anything. Raises Forbidden for whoever is no
        administrator.
        """
        self._run(
            "UPDATE mandate SET chosen_limit_chf = %(chosen)s,"
            " limit_chf = least(%(chosen)s::numeric, %(highest)s::numeric) WHERE id = %(id)s",
            {"id": self._principal.mandate_id, "chosen": chosen_chf, "highest": highest_chf},
        )

    def spending(self) -> tuple[Decimal, Decimal | None]:
        """Return what the mandate has spent and the limit that holds."""
        row = self._row("SELECT spent_chf, limit_chf FROM mandate WHERE id = %s", (self._principal.mandate_id,))
        return (row["spent_chf"], row["limit_chf"]) if row else (Decimal(0), None)
