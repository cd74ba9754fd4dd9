"""The protocol of a run, put together from its log (AG-21)."""

from werkbank.agent.protocols import AgentSession
from werkbank.domain.errors import NotFound
from werkbank.domain.trace import AgentTrace


def trace_of(session: AgentSession, run_id: str) -> AgentTrace:
    """Return a run with its rounds, their tool calls and what all its calls cost. Raises NotFound."""
    run = session.runs.get(run_id)
    if run.workflow_id is None:
        raise NotFound("This run indexed a file; only questions have a trace.")
    briefing = session.briefings.find(run_id)
    calls = session.tool_calls.of_run(run_id)
    rounds = tuple(
        log.model_copy(update={"tool_calls": tuple(call for call in calls if call.round == log.round)})
        for log in session.runs.rounds(run_id)
    )
    return AgentTrace(
        run_id=run.id, workflow_id=run.workflow_id, user_id=run.user_id,
        feature_instance_id=session.workflows.get(run.workflow_id).instance_id, status=run.status,
        abort_reason=run.abort_reason, complexity=briefing.complexity if briefing else None,
        skills=briefing.skills if briefing else (), total_rounds=run.rounds, total_tool_calls=len(calls),
        total_cost_chf=run.spent_chf, started_at=run.started_at, completed_at=run.completed_at,
        costs=session.ledger.by_kind(run.id), rounds=rounds,
    )  # fmt: skip
