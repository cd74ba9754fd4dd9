"""The signed-in user and their socket ticket."""

from datetime import UTC, datetime
from decimal import Decimal

from fastapi import APIRouter

from werkbank.ai.operations import Operation
from werkbank.billing.purse import CallScope
from werkbank.domain.base import WireModel
from werkbank.rest.access import CurrentPrincipal, CurrentServices

router = APIRouter(tags=["me"])


class ModelChoice(WireModel):
    """A model a user may choose."""

    id: str
    label: str


class Me(WireModel):
    """The user and what the page should know at start; money in CHF, sizes in bytes."""

    user_id: str
    mandate_id: str
    roles: tuple[str, ...]
    zone: str
    language: str
    offline: bool
    models: tuple[ModelChoice, ...]
    max_upload_bytes: int
    spent_chf: Decimal
    limit_chf: Decimal | None


class Ticket(WireModel):
    """A single-use ticket for the WebSocket, good for a minute."""

    ticket: str
    socket_url: str
    expires_at: datetime


@router.get("/me")
def get_me(principal: CurrentPrincipal, services: CurrentServices) -> Me:
    """Tell who is signed in and what they may use."""
    with services.database.session(principal) as session:
        session.mandates.ensure(services.mandate_limit_chf)
        spent, limit = session.mandates.spending()
    models = services.ai.models_for(CallScope(principal, "agentRound"), Operation.AGENT)
    return Me(
        user_id=principal.user_id, mandate_id=principal.mandate_id, roles=tuple(sorted(principal.roles)),
        zone=principal.zone, language=principal.language, offline=services.ai.is_offline(),
        models=tuple(ModelChoice(id=model.id, label=model.label) for model in models),
        max_upload_bytes=services.max_upload_bytes, spent_chf=spent, limit_chf=limit,
    )  # fmt: skip


@router.post("/socket-tickets", status_code=201)
def create_ticket(principal: CurrentPrincipal, services: CurrentServices) -> Ticket:
    """Issue a ticket that opens the WebSocket once."""
    ticket, expires_at = services.tickets.issue(principal)
    return Ticket(ticket=ticket, socket_url=services.socket_url, expires_at=datetime.fromtimestamp(expires_at, UTC))
