"""The WebSocket API: routes and authorizer from the template, API Gateway's limits, and its management API.

https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api.html
Frames over 32 kB and messages over 128 kB are refused a layer below, by the server's own limits (gateway.py).
"""

import asyncio
import json
import logging
import time
import uuid
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from infra.local.account import (
    ACCOUNT_ID,
    INTEGRATION_SECONDS,
    REGION,
    SOCKET_IDLE_SECONDS,
    SOCKET_LIFETIME_SECONDS,
    SOCKET_MESSAGE_BYTES,
)
from infra.local.apis import SocketApi, SocketRoute
from infra.local.functions import Functions
from infra.local.worker import Outcome

log = logging.getLogger(__name__)

_GOING_AWAY = 1001
_QUERY_SOURCE, _HEADER_SOURCE = "route.request.querystring.", "route.request.header."


@dataclass(frozen=True)
class SocketLimits:
    """How long a connection may be silent and how long it may last, in seconds."""

    idle_seconds: float = SOCKET_IDLE_SECONDS
    lifetime_seconds: float = SOCKET_LIFETIME_SECONDS


@dataclass
class _Connection:
    socket: WebSocket
    # API Gateway's ids look like `L0SM9cOFvHcCIhw=`; clients must not take them for anything but opaque.
    id: str = field(default_factory=lambda: urlsafe_b64encode(uuid.uuid4().bytes[:11]).decode())
    opened: float = field(default_factory=time.time)
    active: float = field(default_factory=time.monotonic)
    authorizer: dict[str, Any] = field(default_factory=dict)
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def send(self, text: str) -> None:
        async with self.sending:
            await self.socket.send_text(text)
        self.active = time.monotonic()


class SocketGateway:
    """Holds the open connections; a message is handled to its end before the connection's next one is read."""

    def __init__(self, api: SocketApi, functions: Functions, limits: SocketLimits) -> None:
        self._api = api
        self._functions = functions
        self._limits = limits
        self._open: dict[str, _Connection] = {}
        self._throttled = 0

    def throttle(self, pushes: int) -> None:
        """The next `pushes` calls of the management API answer LimitExceededException."""
        self._throttled = pushes

    def drop_all(self) -> None:
        """Loses every connection without a closing handshake's courtesy, as a broken network does."""
        for connection in list(self._open.values()):
            task = asyncio.ensure_future(connection.socket.close(_GOING_AWAY))
            task.add_done_callback(lambda done: done.exception())

    async def serve(self, socket: WebSocket) -> None:
        """One connection from its handshake to its end."""
        connection = _Connection(socket)
        refusal = await self._authorize(connection) or await self._connect(connection)
        if refusal:
            await socket.send_denial_response(JSONResponse({"message": refusal[1]}, refusal[0]))
            return
        await socket.accept()
        self._open[connection.id] = connection
        code = 1006
        try:
            code = await self._read(connection)
        finally:
            self._open.pop(connection.id, None)
            if route := self._api.routes.get("$disconnect"):
                extra = {"disconnectStatusCode": code, "disconnectReason": ""}
                await asyncio.shield(self._invoke(route, connection, "DISCONNECT", None, extra))

    async def _authorize(self, connection: _Connection) -> tuple[int, str] | None:
        if self._api.authorizer is None:
            return None
        if not all(_identity(connection.socket, source) for source in self._api.identity_sources):
            return 401, "Unauthorized"
        event = {
            "type": "REQUEST",
            "methodArn": self._arn("$connect"),
            "stageVariables": {},
            **_handshake(connection.socket),
            "requestContext": self._context("$connect", connection, "CONNECT"),
        }
        outcome = await self._call(self._api.authorizer, event)
        try:
            answer = json.loads(outcome.payload)
            effects = {statement["Effect"] for statement in answer["policyDocument"]["Statement"]}
            context = answer.get("context") or {}
            if any(not isinstance(value, str | int | float | bool) for value in context.values()):
                raise TypeError("the context may hold strings, numbers and booleans only")
        except (ValueError, TypeError, KeyError, AttributeError):
            unauthorized = outcome.failed and b'"Unauthorized"' in outcome.payload
            return (401, "Unauthorized") if unauthorized else (500, "Internal Server Error")
        if effects != {"Allow"}:
            return 403, "Forbidden"
        connection.authorizer = {"principalId": answer.get("principalId", ""), **context}
        return None

    async def _connect(self, connection: _Connection) -> tuple[int, str] | None:
        route = self._api.routes.get("$connect")
        if route is None:
            return None
        outcome = await self._invoke(route, connection, "CONNECT", None, _handshake(connection.socket))
        status = _status(outcome)
        return None if 200 <= status < 300 else (status if status >= 400 else 502, "Connection refused")

    async def _read(self, connection: _Connection) -> int:
        ends = connection.opened + self._limits.lifetime_seconds
        while True:
            patience = min(self._limits.idle_seconds - (time.monotonic() - connection.active), ends - time.time())
            if patience <= 0:
                await connection.socket.close(_GOING_AWAY)
                return _GOING_AWAY
            try:
                # A cancelled receive loses nothing: the server queues messages until the next one.
                message = await asyncio.wait_for(connection.socket.receive(), patience)
            except TimeoutError:
                continue  # a push may have made the connection busy again
            if message["type"] == "websocket.disconnect":
                return int(message.get("code") or 1006)
            connection.active = time.monotonic()
            await self._message(connection, message)

    async def _message(self, connection: _Connection, message: Any) -> None:
        text = message.get("text")
        body = text if text is not None else message["bytes"].decode("utf-8", "replace")
        route = self._api.routes.get(self._select(body)) or self._api.routes.get("$default")
        message_id = uuid.uuid4().hex
        if route is None:
            await connection.send(self._fault("Forbidden", connection, message_id))
            return
        outcome = await self._invoke(route, connection, "MESSAGE", body, {}, message_id)
        if outcome.failed:
            await connection.send(self._fault("Internal server error", connection, message_id))
        elif route.replies and (reply := json.loads(outcome.payload)) and reply.get("body"):
            await connection.send(reply["body"])

    def _select(self, body: str) -> str:
        path = self._api.selector.removeprefix("${").removesuffix("}").removeprefix("$request.body.")
        try:
            value: Any = json.loads(body)
            for name in path.split("."):
                value = value[name]
        except (ValueError, KeyError, TypeError, RecursionError):
            return "$default"
        return value if isinstance(value, str) and not value.startswith("$") else "$default"

    async def _invoke(
        self, route: SocketRoute, connection: _Connection, kind: str, body: str | None, extra: dict[str, Any],
        message_id: str | None = None,
    ) -> Outcome:  # fmt: skip
        context = self._context(route.key, connection, kind)
        event: dict[str, Any] = {"isBase64Encoded": False}
        if kind == "CONNECT":
            event |= extra
        else:
            context |= extra
        if kind == "MESSAGE":
            event["body"] = body
            context["messageId"] = message_id
        return await self._call(route.function, {"requestContext": context, **event})

    async def _call(self, function: str, event: dict[str, Any]) -> Outcome:
        work = asyncio.ensure_future(self._functions.invoke(function, json.dumps(event).encode()))
        try:
            return await asyncio.wait_for(asyncio.shield(work), INTEGRATION_SECONDS)
        except TimeoutError:
            return Outcome.error("Integration.Timeout", "Endpoint request timed out")

    def _arn(self, route_key: str) -> str:
        return f"arn:aws:execute-api:{REGION}:{ACCOUNT_ID}:{self._api.name.lower()}/{self._api.stage}/{route_key}"

    def _context(self, route_key: str, connection: _Connection, kind: str) -> dict[str, Any]:
        socket, now = connection.socket, time.time()
        context: dict[str, Any] = {
            "routeKey": route_key,
            "eventType": kind,
            "messageDirection": "IN",
            "stage": self._api.stage,
            "apiId": self._api.name.lower(),
            "domainName": socket.headers.get("host", ""),
            "connectionId": connection.id,
            "connectedAt": int(connection.opened * 1000),
            "requestId": uuid.uuid4().hex,
            "extendedRequestId": uuid.uuid4().hex,
            "requestTime": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
            "requestTimeEpoch": int(now * 1000),
            "identity": {
                "sourceIp": socket.client.host if socket.client else "127.0.0.1",
                "userAgent": socket.headers.get("user-agent", ""),
            },
        }
        return context | ({"authorizer": connection.authorizer} if connection.authorizer else {})

    def _fault(self, text: str, connection: _Connection, request_id: str) -> str:
        return json.dumps({"message": text, "connectionId": connection.id, "requestId": request_id})

    def routes(self) -> list[Route]:
        """The management API (`@connections`), as boto3's apigatewaymanagementapi calls it."""
        path = f"/{self._api.stage}/@connections/{{connection_id}}"
        return [
            Route(path, self._post, methods=["POST"]),
            Route(path, self._delete, methods=["DELETE"]),
            Route(path, self._get, methods=["GET"]),
        ]

    async def _post(self, request: Request) -> Response:
        if self._throttled > 0:
            self._throttled -= 1
            return _error(429, "LimitExceededException")
        data = await request.body()
        if len(data) > SOCKET_MESSAGE_BYTES:
            return _error(413, "PayloadTooLargeException")
        connection = self._open.get(request.path_params["connection_id"])
        if connection is None or connection.socket.client_state is not WebSocketState.CONNECTED:
            return _error(410, "GoneException")
        try:
            await connection.send(data.decode("utf-8", "replace"))
        except (RuntimeError, WebSocketDisconnect, OSError):
            return _error(410, "GoneException")
        return Response()

    async def _delete(self, request: Request) -> Response:
        connection = self._open.get(request.path_params["connection_id"])
        if connection is None:
            return _error(410, "GoneException")
        await connection.socket.close(1000)
        return Response(status_code=204)

    async def _get(self, request: Request) -> Response:
        connection = self._open.get(request.path_params["connection_id"])
        if connection is None:
            return _error(410, "GoneException")
        opened = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(connection.opened))
        client = connection.socket.client
        identity = {"sourceIp": client.host if client else "127.0.0.1", "userAgent": ""}
        return JSONResponse({"connectedAt": opened, "lastActiveAt": opened, "identity": identity})


def _error(status: int, kind: str) -> Response:
    return JSONResponse({"message": kind}, status, headers={"x-amzn-ErrorType": kind})


def _identity(socket: WebSocket, source: str) -> str | None:
    if source.startswith(_QUERY_SOURCE):
        return socket.query_params.get(source.removeprefix(_QUERY_SOURCE))
    return socket.headers.get(source.removeprefix(_HEADER_SOURCE))


def _handshake(socket: WebSocket) -> dict[str, Any]:
    query = socket.query_params
    return {
        "headers": dict(socket.headers),
        "multiValueHeaders": {name: socket.headers.getlist(name) for name in socket.headers},
        "queryStringParameters": dict(query) or None,
        "multiValueQueryStringParameters": {name: query.getlist(name) for name in query} or None,
    }


def _status(outcome: Outcome) -> int:
    if outcome.failed:
        return 502
    try:
        return int(json.loads(outcome.payload)["statusCode"])
    except (ValueError, KeyError, TypeError):
        return 502
