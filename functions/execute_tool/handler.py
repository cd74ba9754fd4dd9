"""Runs one tool call; its result goes to the database (AG-05, AG-10, AG-23). Asks for consent first where it must."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.domain.runs import ToolCallRef
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take a tool call's ids, with `taskToken` when its user is only to be asked (AG-24); answer nothing."""
    ref = ToolCallRef.model_validate(event)
    token = event.get("taskToken")
    if token:
        bootstrap.tool_execution().ask_consent(ref, ref.round, ref.call_id, str(token))
    else:
        bootstrap.tool_execution().execute(ref, ref.round, ref.call_id)
    return {}
