"""The REST API behind API Gateway (design §7)."""

from functools import cache

from aws_lambda_powertools.utilities.typing import LambdaContext
from mangum import Mangum

from werkbank import bootstrap
from werkbank.observability import Event, observed


@cache
def _adapter() -> Mangum:
    return Mangum(bootstrap.api(), lifespan="off")


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take an HTTP API event (payload 2.0); answer its response."""
    response: Event = _adapter()(event, context)  # type: ignore[arg-type]  # Mangum's own types of the same objects
    return response
