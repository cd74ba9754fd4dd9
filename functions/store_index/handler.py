"""Puts a file's new index in place of its old one, or records why there is none (KS-03)."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.domain.failure import parse_failure, state_of
from werkbank.domain.runs import IndexRef
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take an indexing run's ids, with `failure` where a state or the whole execution failed; answer nothing."""
    state = state_of(event)
    ref = IndexRef.model_validate(state)
    failure = state.get("failure")
    if failure:
        bootstrap.index_conclusion().fail(ref, parse_failure(failure))
    else:
        bootstrap.index_conclusion().store(ref)
    return {}
