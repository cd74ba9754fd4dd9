"""Conversations."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from werkbank.domain.base import WireModel
from werkbank.domain.runs import Citation, Run, RunStatus, StoredMessage
from werkbank.domain.trace import ToolCallLog
from werkbank.rest.access import CurrentPrincipal, CurrentServices

router = APIRouter(tags=["workflows"])


class WorkflowRow(WireModel):
    """A conversation in the list."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    last_run_id: str | None = None
    last_run_status: RunStatus | None = None


class WorkflowList(WireModel):
    """Conversations, the latest first."""

    workflows: tuple[WorkflowRow, ...]


class MessageView(WireModel):
    """A message as its user sees it; `status` partial means it was cut short, `pinned` that it is always told."""

    id: str
    run_id: str
    round: int
    role: Literal["user", "assistant"]
    content: str
    tool_calls: tuple[ToolCallLog, ...]
    citations: tuple[Citation, ...]
    file_ids: tuple[str, ...]
    status: Literal["complete", "partial"]
    pinned: bool
    created_at: datetime


class RunView(WireModel):
    """A run as its user sees it."""

    id: str
    status: RunStatus
    last_seq: int
    rounds: int
    cost_chf: Decimal
    abort_reason: str | None
    started_at: datetime
    completed_at: datetime | None

    @classmethod
    def of(cls, run: Run) -> "RunView":
        """Return the public part of a run."""
        return cls(
            id=run.id, status=run.status, last_seq=run.last_seq, rounds=run.rounds, cost_chf=run.spent_chf,
            abort_reason=run.abort_reason, started_at=run.started_at, completed_at=run.completed_at,
        )  # fmt: skip


class WorkflowView(WireModel):
    """A conversation with all that was said."""

    workflow: WorkflowRow
    messages: tuple[MessageView, ...]
    runs: tuple[RunView, ...]


class WorkflowChange(WireModel):
    """A new title."""

    title: Annotated[str, Field(min_length=1, max_length=200)]


@router.get("/workflows")
def list_workflows(principal: CurrentPrincipal, services: CurrentServices, search: str | None = None) -> WorkflowList:
    """List conversations; `search` looks in titles and messages."""
    with services.database.session(principal) as session:
        rows = session.workflows.list(search)
    return WorkflowList(workflows=tuple(WorkflowRow.model_validate(row) for row in rows))


@router.get("/workflows/{workflow_id}")
def get_workflow(workflow_id: str, principal: CurrentPrincipal, services: CurrentServices) -> WorkflowView:
    """Return a conversation with messages, tool calls and runs."""
    with services.database.session(principal) as session:
        workflow = session.workflows.get(workflow_id)
        messages = session.messages.of_workflow(workflow_id)
        calls = session.tool_calls.of_workflow(workflow_id)
        runs = session.runs.of_workflow(workflow_id)
    row = WorkflowRow(
        id=workflow.id, title=workflow.title, created_at=workflow.created_at, updated_at=workflow.updated_at,
        last_run_id=runs[-1].id if runs else None, last_run_status=runs[-1].status if runs else None,
    )  # fmt: skip
    return WorkflowView(
        workflow=row,
        messages=tuple(_view(message, calls) for message in messages),
        runs=tuple(RunView.of(run) for run in runs),
    )


def _view(message: StoredMessage, calls: tuple[ToolCallLog, ...]) -> MessageView:
    own = tuple(
        call for call in calls
        if message.role == "assistant" and call.run_id == message.run_id and call.round == message.round
    )  # fmt: skip
    return MessageView(
        id=message.id, run_id=message.run_id, round=message.round, role=message.role, content=message.content,
        tool_calls=own, citations=message.citations, file_ids=message.file_ids,
        status="partial" if message.partial else "complete", pinned=message.pinned, created_at=message.created_at,
    )  # fmt: skip


@router.patch("/workflows/{workflow_id}")
def rename_workflow(
    workflow_id: str, body: WorkflowChange, principal: CurrentPrincipal, services: CurrentServices
) -> WorkflowRow:
    """Give a conversation another title."""
    with services.database.session(principal) as session:
        workflow = session.workflows.rename(workflow_id, body.title)
    return WorkflowRow(
        id=workflow.id, title=workflow.title, created_at=workflow.created_at, updated_at=workflow.updated_at
    )


@router.delete("/workflows/{workflow_id}", status_code=204)
def delete_workflow(workflow_id: str, principal: CurrentPrincipal, services: CurrentServices) -> Response:
    """Delete a conversation with all its runs, stopped if need be; what it cost stays in the ledger."""
    services.stopping.stop_all(principal, workflow_id)
    with services.database.session(principal) as session:
        session.workflows.delete(workflow_id)
    return Response(status_code=204)
