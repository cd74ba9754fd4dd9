"""Lets a WebSocket open for the holder of a ticket, once."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank import bootstrap
from werkbank.observability import Event, observed


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take a REQUEST authorizer event with `?ticket=`; answer an IAM policy and, if allowed, the principal."""
    parameters: dict[str, Any] = event.get("queryStringParameters") or {}  # type: ignore[assignment]
    principal = bootstrap.tickets().redeem(str(parameters.get("ticket", "")))
    statement = {
        "Action": "execute-api:Invoke",
        "Effect": "Allow" if principal else "Deny",
        "Resource": event["methodArn"],
    }
    policy: Event = {
        "principalId": principal.user_id if principal else "unknown",
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
    }
    if principal:
        policy["context"] = {
            "userId": principal.user_id,
            "mandateId": principal.mandate_id,
            "roles": ",".join(sorted(principal.roles)),
            "zone": principal.zone,
            "language": principal.language,
        }
    return policy
