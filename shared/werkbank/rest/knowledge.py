"""Search over everything the user may see."""

from typing import Annotated

from fastapi import APIRouter, Query

from werkbank.billing.purse import CallScope
from werkbank.domain.base import WireModel
from werkbank.domain.documents import ContextRef
from werkbank.knowledge.retrieval import search as search_passages
from werkbank.knowledge.run_knowledge import gate_embedder
from werkbank.rest.access import CurrentPrincipal, CurrentServices

router = APIRouter(tags=["knowledge"])


class PassageView(WireModel):
    """A passage with where it stands."""

    file_id: str
    file_name: str
    place: str
    text: str
    score: float
    ref: ContextRef


class Passages(WireModel):
    """Passages, best first."""

    passages: tuple[PassageView, ...]


@router.get("/knowledge/search")
def search(
    principal: CurrentPrincipal,
    services: CurrentServices,
    q: Annotated[str, Query(min_length=1, max_length=1_000)],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> Passages:
    """Search by meaning and by words."""
    embed = gate_embedder(services.ai, CallScope(principal, "embedding"))
    found = search_passages(services.database, embed, principal, q, limit=limit)
    return Passages(
        passages=tuple(
            PassageView(
                file_id=passage.file_id,
                file_name=passage.file_name,
                place=passage.place,
                text=passage.text,
                score=passage.score,
                ref=passage.ref,
            )
            for passage in found
        )
    )
