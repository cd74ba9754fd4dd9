"""Emits a run's last event, whatever went before (AG-19)."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.agent.conclusion import Ending
from werkbank.agent.failure import ending_of
from werkbank.domain.failure import parse_failure, state_of
from werkbank.domain.runs import RunRef
from werkbank.observability import Event, observed

_RESERVE_SECONDS = 15.0


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take a run's ids with `status`, or with `failure` where a state or the whole execution failed; answer nothing."""
    state = state_of(event)
    ref = RunRef.model_validate(state)
    failure = state.get("failure")
    ending = ending_of(parse_failure(failure)) if failure else Ending.model_validate({"status": state["status"]})
    bootstrap.finisher().finish(ref, ending, context.get_remaining_time_in_millis() / 1_000 - _RESERVE_SECONDS)
    return {}
