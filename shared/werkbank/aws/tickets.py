"""Single-use tickets for the WebSocket: a JWT never stands in a URL."""

import hashlib
import json
import secrets
import time

import boto3

from werkbank.domain.principal import Principal

LIFETIME_SECONDS = 60


class Tickets:
    """Issues and redeems tickets. The table knows only their hashes."""

    def __init__(self, table: str) -> None:
        self._table = boto3.resource("dynamodb").Table(table)

    def issue(self, principal: Principal) -> tuple[str, int]:
        """Return a new ticket for the principal and when it expires (seconds since 1970)."""
        ticket = secrets.token_urlsafe(32)
        expires_at = int(time.time()) + LIFETIME_SECONDS
        self._table.put_item(
            Item={**_key(ticket), "principal": json.dumps(principal.to_wire()), "expiresAt": expires_at}
        )
        return ticket, expires_at

    def redeem(self, ticket: str) -> Principal | None:
        """Return whom the ticket was issued for, once; None for one that is unknown, used or expired."""
        item = self._table.delete_item(Key=_key(ticket), ReturnValues="ALL_OLD").get("Attributes")
        # The table's own expiry is only a clean-up: it may take days.
        if item is None or int(str(item["expiresAt"])) < time.time():
            return None
        return Principal.model_validate_json(str(item["principal"]))


def _key(ticket: str) -> dict[str, str]:
    return {"pk": f"ticket#{hashlib.sha256(ticket.encode()).hexdigest()}", "sk": "ticket"}
