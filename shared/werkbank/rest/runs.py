"""Runs: state, events, trace (EV-02, AG-21)."""

from typing import Annotated

from fastapi import APIRouter, Query

from werkbank.agent.trace import trace_of
from werkbank.domain.base import WireModel
from werkbank.domain.events import RunEvent
from werkbank.domain.trace import AgentTrace
from werkbank.rest.access import CurrentPrincipal, CurrentServices
from werkbank.rest.workflows import RunView

router = APIRouter(tags=["runs"])


class Events(WireModel):
    """Events in order."""

    events: tuple[RunEvent, ...]


@router.get("/runs/{run_id}")
def get_run(run_id: str, principal: CurrentPrincipal, services: CurrentServices) -> RunView:
    """Return a run's state."""
    with services.database.session(principal) as session:
        return RunView.of(session.runs.get(run_id))


@router.get("/runs/{run_id}/events")
def get_events(
    run_id: str,
    principal: CurrentPrincipal,
    services: CurrentServices,
    after_seq: Annotated[int, Query(alias="afterSeq", ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 1_000,
) -> Events:
    """Return the events after a number, at most 1,000 at once."""
    with services.database.session(principal) as session:
        session.runs.get(run_id)
        return Events(events=session.events.after(run_id, after_seq, limit))


@router.get("/runs/{run_id}/trace")
def get_trace(run_id: str, principal: CurrentPrincipal, services: CurrentServices) -> AgentTrace:
    """Return the full protocol of a run."""
    with services.database.session(principal) as session:
        return trace_of(session, run_id)
