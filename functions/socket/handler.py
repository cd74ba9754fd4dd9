"""The WebSocket's edge: opens, closes, and acts on what a page says (EV-01)."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.domain.principal import Principal
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take a WebSocket event of API Gateway (routes $connect, $disconnect, $default); answer a status."""
    request: dict[str, Any] = event["requestContext"]  # type: ignore[assignment]
    connection_id = str(request["connectionId"])
    principal = _principal(request["authorizer"])
    match request["routeKey"]:
        case "$connect":
            bootstrap.connections().add(principal.user_id, connection_id)
        case "$disconnect":
            bootstrap.connections().remove(principal.user_id, connection_id)
        case _:
            for answer in bootstrap.frames().handle(principal, str(event.get("body") or "")):
                bootstrap.socket_push().send(principal.user_id, connection_id, answer)
    return {"statusCode": 200}


def _principal(authorizer: dict[str, str]) -> Principal:
    """Read what `authorize_socket` found out; API Gateway keeps it for the life of the connection."""
    return Principal(
        user_id=authorizer["userId"],
        mandate_id=authorizer["mandateId"],
        roles=frozenset(filter(None, authorizer["roles"].split(","))),
        zone=authorizer["zone"],
        language=authorizer["language"],
    )
