"""What the user said and later questions are told of (AG-17): to see, to pin, to forget."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from werkbank.domain.base import WireModel
from werkbank.knowledge.model import RememberedMessage
from werkbank.rest.access import CurrentPrincipal, CurrentServices

router = APIRouter(tags=["memories"])


class Memories(WireModel):
    """Memories, the latest first; a memory has the id of its message."""

    memories: tuple[RememberedMessage, ...]


class MemoryChange(WireModel):
    """Whether every question is told of it."""

    pinned: bool


@router.get("/memories")
def list_memories(
    principal: CurrentPrincipal,
    services: CurrentServices,
    pinned: bool = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> Memories:
    """List what is remembered; with `pinned` only what every question is told."""
    with services.database.session(principal) as session:
        return Memories(memories=session.knowledge.remembered.latest(limit, pinned_only=pinned))


@router.patch("/memories/{message_id}")
def change_memory(
    message_id: str, body: MemoryChange, principal: CurrentPrincipal, services: CurrentServices
) -> RememberedMessage:
    """Pin a message of the user's, or unpin it; pinning one that was forgotten brings it back."""
    with services.database.session(principal) as session:
        return session.knowledge.remembered.set_pinned(message_id, body.pinned)


@router.delete("/memories/{message_id}", status_code=204)
def forget_memory(message_id: str, principal: CurrentPrincipal, services: CurrentServices) -> Response:
    """Forget a message: no question is told of it any more, nor of its answer; both stay in their conversation."""
    with services.database.session(principal) as session:
        session.knowledge.remembered.forget(message_id)
    return Response(status_code=204)
