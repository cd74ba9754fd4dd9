"""Puts a file's new index in place of its old one, or records why there is none (KS-03)."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.domain.failure import parse_failure
from werkbank.domain.runs import IndexRef
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take an indexing run's ids, with `failure` where an earlier state failed; answer nothing."""
    ref = IndexRef.model_validate(event)
    failure = event.get("failure")
    if failure:
        bootstrap.index_conclusion().fail(ref, parse_failure(failure))
    else:
        bootstrap.index_conclusion().store(ref)
    return {}
