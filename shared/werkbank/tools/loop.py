"""Tools on the run itself (AG-08).

Why a model wants more rounds is logged where its user sees it: in the run's own log, as the call's event and in the
trace, which is theirs alone. The operators' log has only that the run got more: a model's words may quote the question
or a document, and nothing of these is ever logged there.
"""

from typing import Annotated

from pydantic import Field

from werkbank.domain.errors import ToolError
from werkbank.domain.runs import MAX_ROUNDS
from werkbank.observability import logger
from werkbank.tools.context import ToolContext
from werkbank.tools.effects import Effect
from werkbank.tools.registry import tool

ROUNDS_PER_REQUEST = 10


@tool(name="request_more_iterations", effects={Effect.SPEND})
def request_more_iterations(
    context: ToolContext,
    reason: Annotated[str, Field(min_length=10, max_length=500, description="What is still to be done, for the user.")],
) -> str:
    """Ask for ten more rounds when a task is nearly done but the rounds would run out. Say honestly why."""
    if context.run.max_rounds >= MAX_ROUNDS:
        raise ToolError(f"A question may have at most {MAX_ROUNDS} rounds. Finish with what you have.")
    with context.database.session(context.principal) as session:
        run = session.runs.grant_rounds(context.run.id, ROUNDS_PER_REQUEST)
    logger.info("run got more rounds", extra={"runId": run.id, "maxRounds": run.max_rounds})
    return f"You now have {run.max_rounds - run.rounds} rounds left, for: {reason}"
