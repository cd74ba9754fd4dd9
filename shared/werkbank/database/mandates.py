"""Mandates (tenants) and their money."""

from decimal import Decimal

from werkbank.database.store import Store


class Mandates(Store):
    """The principal's own mandate."""

    def ensure(self, limit_chf: Decimal | None) -> None:
        """Create the mandate on first contact, with this limit."""
        self._run(
            "INSERT INTO mandate (id, limit_chf) VALUES (%s, %s) ON CONFLICT (id) DO NOTHING",
            (self._principal.mandate_id, limit_chf),
        )

    def spending(self) -> tuple[Decimal, Decimal | None]:
        """Return what the mandate has spent and its limit (None: no limit), both in CHF."""
        row = self._row("SELECT spent_chf, limit_chf FROM mandate WHERE id = %s", (self._principal.mandate_id,))
        return (row["spent_chf"], row["limit_chf"]) if row else (Decimal(0), None)
