"""Brings the schema up to date at every deploy, as a custom resource of the stack (DP-01)."""

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.aws.deployment import respond
from werkbank.observability import Event, logger, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take a CloudFormation custom resource event, or an empty one for a plain call; answer what was applied.

    A failure fails the deploy, and CloudFormation rolls the functions back to code that fits the schema.
    """
    if event.get("RequestType") == "Delete":
        respond(event, context, succeeded=True)
        return {}
    try:
        applied = bootstrap.migrate_schema()
    except Exception:
        respond(event, context, succeeded=False)
        raise
    logger.info("schema is up to date", extra={"applied": applied})
    respond(event, context, succeeded=True)
    return {"applied": [*applied]}
