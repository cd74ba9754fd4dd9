"""Calls that wait for the user's consent (AG-24)."""

from fastapi import APIRouter, Response

from werkbank.domain.base import WireModel
from werkbank.domain.trace import WaitingCall
from werkbank.rest.access import CurrentPrincipal, CurrentServices

router = APIRouter(tags=["confirmations"])


class Confirmations(WireModel):
    """Waiting calls, the oldest first."""

    confirmations: tuple[WaitingCall, ...]


class Decision(WireModel):
    """What the user says to a call."""

    run_id: str
    round: int
    call_id: str
    approved: bool


@router.get("/confirmations")
def list_confirmations(principal: CurrentPrincipal, services: CurrentServices) -> Confirmations:
    """List the calls that wait for the user, with all of their arguments: events cut long ones short."""
    return Confirmations(confirmations=services.consent.waiting(principal))


@router.post("/confirmations", status_code=204)
def decide(body: Decision, principal: CurrentPrincipal, services: CurrentServices) -> Response:
    """Allow or decline a call; its run goes on."""
    services.consent.decide(principal, body.run_id, body.round, body.call_id, body.approved)
    return Response(status_code=204)
