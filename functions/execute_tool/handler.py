"""Runs one tool call; its result goes to the database (AG-05, AG-10, AG-23)."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.domain.runs import ToolCallRef
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take a tool call's ids; answer nothing."""
    ref = ToolCallRef.model_validate(event)
    bootstrap.tool_execution().execute(ref, ref.round, ref.call_id)
    return {}
