"""Opens the next round of a run, or ends the run when money or rounds are used up (AG-06, AG-07)."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.domain.runs import RunRef
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take `{runId, mandateId, userId}`; answer the same with `next` (round or finish), `round` and `status`."""
    ref = RunRef.model_validate(event)
    return {**ref.to_wire(), **bootstrap.budget().check(ref).to_wire()}
