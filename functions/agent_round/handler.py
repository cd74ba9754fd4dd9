"""Asks the model once and stores what it says (AG-04)."""

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import JsonValue

from werkbank import bootstrap
from werkbank.config import ConsentSettings
from werkbank.domain.runs import RoundRef, ToolCallRef
from werkbank.observability import Event, observed

# What storing the answer and reporting take after the model has been given up.
_RESERVE_SECONDS = 15.0


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take a round's ids; answer them with `next` (tools or finish), `status` and the batches of tool calls."""
    ref = RoundRef.model_validate(event)
    timeout_seconds = context.get_remaining_time_in_millis() / 1_000 - _RESERVE_SECONDS
    step = bootstrap.rounds().run(ref, ref.round, timeout_seconds)
    # What waits for consent says for how long: the state machine reads it there.
    waiting: dict[str, JsonValue] = {"confirm": True, "consentSeconds": ConsentSettings().consent_seconds}
    batches: list[JsonValue] = [
        [
            {**ToolCallRef(**ref.model_dump(), call_id=id).to_wire(), **(waiting if id in step.confirm else {})}
            for id in batch
        ]
        for batch in step.batches
    ]
    return {**ref.to_wire(), "next": step.next, "status": step.status, "batches": batches}
