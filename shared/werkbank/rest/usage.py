"""What the mandate has spent, and on what (AI-08)."""

from decimal import Decimal

from fastapi import APIRouter
from pydantic import AwareDatetime

from werkbank.domain.base import WireModel
from werkbank.domain.billing import KindTotal, UsageDimension, UsageTotal
from werkbank.rest.access import CurrentPrincipal, CurrentServices

router = APIRouter(tags=["usage"])


class Usage(WireModel):
    """What the mandate has spent, in CHF."""

    spent_chf: Decimal
    limit_chf: Decimal | None
    by_kind: tuple[KindTotal, ...]


class UsageTotals(WireModel):
    """Costs by what they were for, the highest first."""

    totals: tuple[UsageTotal, ...]


@router.get("/usage")
def get_usage(principal: CurrentPrincipal, services: CurrentServices) -> Usage:
    """Return what the mandate has spent, by kind of call."""
    with services.database.session(principal) as session:
        session.mandates.ensure(services.mandate_limit_chf)
        spent, limit = session.mandates.spending()
        return Usage(spent_chf=spent, limit_chf=limit, by_kind=session.ledger.by_kind())


@router.get("/usage/{by}")
def get_usage_totals(
    by: UsageDimension, principal: CurrentPrincipal, services: CurrentServices, since: AwareDatetime | None = None
) -> UsageTotals:
    """Return what was spent by conversation, user, feature instance or model: administrators of all, others of theirs.

    `since` (ISO 8601 with its zone) leaves out what is older.
    """
    with services.database.session(principal) as session:
        return UsageTotals(totals=session.ledger.totals(by, since))
