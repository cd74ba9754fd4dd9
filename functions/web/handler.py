"""Serves the page: its files, and where it signs in (UI-01)."""

from pathlib import Path

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.observability import Event, observed

_DIST = Path(__file__).parent / "dist"


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take an HTTP API event (payload 2.0); answer a file of the page, `/config.json`, or the page itself."""
    return bootstrap.page(_DIST).serve(str(event.get("rawPath", "/")))
