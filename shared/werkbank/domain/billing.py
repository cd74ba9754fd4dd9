"""What calls cost (AI-08). Amounts in CHF."""

from decimal import Decimal
from typing import Literal

from werkbank.domain.base import WireModel

ChargeKind = Literal["agentRound", "summary", "embedding", "search"]


class Reservation(WireModel):
    """An upper bound set aside before a call, for whom and for what."""

    id: str
    amount_chf: Decimal
    kind: ChargeKind
    model: str
    run_id: str | None = None
    round: int | None = None
    workflow_id: str | None = None
    instance_id: str | None = None


class Charge(WireModel):
    """A ledger row; `cost_chf` None while only reserved."""

    id: str
    kind: ChargeKind
    model: str
    status: Literal["reserved", "settled", "released"]
    round: int | None
    reserved_chf: Decimal
    cost_chf: Decimal | None
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int


class KindTotal(WireModel):
    """Settled costs of one kind of call."""

    kind: str
    calls: int
    cost_chf: Decimal
