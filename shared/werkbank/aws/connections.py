"""Open WebSocket connections by user, and the push to all of a user's pages."""

import json
import time

import boto3
from boto3.dynamodb.conditions import Key
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from werkbank.domain.events import RunEvent
from werkbank.observability import count, logger

# API Gateway closes a connection after two hours at the latest.
_LIFETIME_SECONDS = 7_200
# A message of the WebSocket API holds 128 kB.
_MAX_PUSH_BYTES = 128 * 1024
# Text comes twenty times a second and is waited for: it goes to the pages that are known; once a second they are looked
# up anew, afterwards, and newcomers get it too. A page that opens in between sees a gap and asks for what it missed.
_LISTENERS_SECONDS = 1.0


class Connections:
    """The table of open connections."""

    def __init__(self, table: str) -> None:
        self._table = boto3.resource("dynamodb").Table(table)

    def add(self, user_id: str, connection_id: str) -> None:
        """Note an open connection."""
        self._table.put_item(Item={**_key(user_id, connection_id), "expiresAt": int(time.time()) + _LIFETIME_SECONDS})

    def remove(self, user_id: str, connection_id: str) -> None:
        """Forget a connection."""
        self._table.delete_item(Key=_key(user_id, connection_id))

    def of(self, user_id: str) -> list[str]:
        """Return the user's open connections."""
        found = self._table.query(KeyConditionExpression=Key("pk").eq(f"user#{user_id}"), ConsistentRead=True)
        return [str(item["sk"]).removeprefix("connection#") for item in found["Items"]]


class SocketPush:
    """Pushes events. Whatever goes wrong is counted and left: the log has the event, the page asks for it again."""

    def __init__(self, connections: Connections, endpoint: str) -> None:
        self._connections = connections
        # One quick try: a push that is late is worth less than the run going on.
        config = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1}, max_pool_connections=4)
        self._client = boto3.client("apigatewaymanagementapi", endpoint_url=endpoint, config=config)
        self._listeners: dict[str, tuple[float, list[str]]] = {}

    def expect(self, user_id: str) -> None:
        """Look up the user's connections ahead of a text, while the model thinks. Never raises."""
        try:
            self._look_up(user_id)
        except (ClientError, BotoCoreError) as error:
            self._note(error)

    def push(self, user_id: str, event: RunEvent) -> None:
        """Send an event to every connection of the user. Never raises."""
        try:
            payload = encode_event(event)
            known = self._listeners.get(user_id) if event.type == "chunk" else None
            looked_up, listeners = known or self._look_up(user_id)
            for connection_id in listeners:
                self.send(user_id, connection_id, payload)
            is_current = user_id in self._listeners and time.monotonic() - looked_up <= _LISTENERS_SECONDS
            if not is_current:
                for connection_id in set(self._look_up(user_id)[1]).difference(listeners):
                    self.send(user_id, connection_id, payload)
        except (ClientError, BotoCoreError) as error:
            self._note(error)

    def send(self, user_id: str, connection_id: str, payload: bytes) -> None:
        """Send to one connection; forgets it when it is gone. Never raises."""
        try:
            self._client.post_to_connection(ConnectionId=connection_id, Data=payload)
        except self._client.exceptions.GoneException:
            count("PushGone")
            self._connections.remove(user_id, connection_id)
            self._listeners.pop(user_id, None)
        except (ClientError, BotoCoreError) as error:
            self._note(error)

    def _look_up(self, user_id: str) -> tuple[float, list[str]]:
        found = self._listeners[user_id] = (time.monotonic(), self._connections.of(user_id))
        return found

    def _note(self, error: Exception) -> None:
        count("PushFailed")
        logger.warning("push failed", extra={"error": type(error).__name__})


def encode_event(event: RunEvent) -> bytes:
    """Return an event as the page reads it; one beyond the gateway's limit says so, and the page fetches it by REST."""
    payload = json.dumps(event.to_wire(), ensure_ascii=False).encode()
    if len(payload) <= _MAX_PUSH_BYTES:
        return payload
    count("PushOversized")
    return json.dumps({**event.to_wire(), "data": {"oversized": True}}).encode()


def _key(user_id: str, connection_id: str) -> dict[str, str]:
    return {"pk": f"user#{user_id}", "sk": f"connection#{connection_id}"}
