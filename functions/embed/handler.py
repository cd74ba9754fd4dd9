"""Turns a file's passages into vectors (KS-03)."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.domain.runs import IndexRef
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take an indexing run's ids; answer nothing."""
    ref = IndexRef.model_validate(event)
    bootstrap.indexing().embed(ref, ref.file_id, bootstrap.index_embedder(ref))
    return {}
