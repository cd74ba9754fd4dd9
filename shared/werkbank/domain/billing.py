"""What calls cost (AI-08). Amounts in CHF."""

from decimal import Decimal
from typing import Literal

from werkbank.domain.base import WireModel
from werkbank.domain.money import round_chf
from werkbank.domain.rights import ModelRight

ChargeKind = Literal["agentRound", "summary", "embedding", "search", "image", "speech", "entityCache"]


# Kept of every cap for the closing text: a summary of what was done by a cheap model, not another round.
CLOSING_SHARE = Decimal("0.1")
# Kept where only the mandate's limit ends a run: it pays for a closing text, and binds little of what all share.
_CLOSING_WITHOUT_CAP = Decimal("0.1")


def closing_reserve(cap_chf: Decimal | None) -> Decimal:
    """Return what a run with this cap keeps for its closing text at most."""
    return _CLOSING_WITHOUT_CAP if cap_chf is None else round_chf(cap_chf * CLOSING_SHARE)


class Preflight(WireModel):
    """What is settled before a call: model rights (none: no restriction), and what is left in CHF (None: no limit)."""

    rights: tuple[ModelRight, ...]
    remaining_chf: Decimal | None


class Reservation(WireModel):
    """An upper bound set aside before a call, for whom and for what; `is_closing` may use what is kept for that."""

    id: str
    amount_chf: Decimal
    kind: ChargeKind
    model: str
    run_id: str | None = None
    round: int | None = None
    workflow_id: str | None = None
    is_closing: bool = False


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
    """Settled costs of one kind of call; of calls that died nobody knows how many tokens they used."""

    kind: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_chf: Decimal


UsageDimension = Literal["workflow", "user", "instance", "model"]


class UsageTotal(WireModel):
    """Settled costs of one conversation, user, feature instance or model; `id` None is what belongs to none.

    `label` is its name where it has one that the asking person may read.
    """

    id: str | None
    label: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cost_chf: Decimal
