"""Money is CHF in `Decimal`, kept to a millionth (`numeric(14,6)`): a single token costs less than a centime."""

from decimal import ROUND_HALF_UP, ROUND_UP, Decimal

LEDGER_UNIT = Decimal("0.000001")
ZERO_CHF = Decimal("0")


def round_chf(amount: Decimal) -> Decimal:
    """Round an amount to the ledger's precision."""
    return amount.quantize(LEDGER_UNIT, ROUND_HALF_UP)


def round_up_chf(amount: Decimal) -> Decimal:
    """Round an estimate up, so that a reservation never falls short of the cost it stands for."""
    return amount.quantize(LEDGER_UNIT, ROUND_UP)
