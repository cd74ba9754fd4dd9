"""Reads a file without any AI: content objects and passages (KS-03, DO-02)."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.domain.runs import IndexRef
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take an indexing run's ids; answer nothing. Raises DocumentError when the file cannot be read."""
    bootstrap.extract_content(IndexRef.model_validate(event))
    return {}
