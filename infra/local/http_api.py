"""The HTTP API: payload format 2.0, routes and JWT authorizer from the template, API Gateway's limits.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

import asyncio
import base64
import binascii
import json
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from infra.local.account import ACCOUNT_ID, HTTP_PAYLOAD_BYTES, INTEGRATION_SECONDS
from infra.local.apis import HttpRoute
from infra.local.functions import Functions, PayloadTooLargeError
from infra.local.tokens import ForbiddenError, TokenVerifier, UnauthorizedError, claims_for_function
from infra.local.worker import Outcome

_VARIABLE = re.compile(r"\{(\w+)(\+?)\}")
_TEXT_TYPES = re.compile(r"^(text/|application/(json|javascript|xml|problem\+json|x-www-form-urlencoded))")
_API_ID = "local"


class _PayloadError(Exception):
    """The request is larger than the gateway takes."""


@dataclass(frozen=True)
class _CompiledRoute:
    route: HttpRoute
    pattern: re.Pattern[str]
    rank: tuple[int, int, int]

    @classmethod
    def of(cls, route: HttpRoute) -> "_CompiledRoute":
        if route.path == "$default":
            return cls(route, re.compile(""), (2, 0, 0))
        parts = [_segment(part) for part in _VARIABLE.split(route.path)[::3]]
        names = _VARIABLE.findall(route.path)
        expression = parts[0]
        for (name, greedy), part in zip(names, parts[1:], strict=True):
            expression += f"(?P<{name}>{'.+' if greedy else '[^/]+'}){part}"
        greedy_route = any(greedy for _, greedy in names)
        # The most specific route wins: full matches before greedy ones, an exact method before ANY.
        rank = (int(greedy_route), -len(route.path.split("/")), len(names) * 2 + (route.method == "ANY"))
        return cls(route, re.compile(f"^{expression}/?$"), rank)


def _segment(text: str) -> str:
    return re.escape(text)


class HttpApi:
    """Answers every HTTP request that no other part of the gateway takes."""

    def __init__(self, routes: tuple[HttpRoute, ...], functions: Functions, tokens: TokenVerifier) -> None:
        self._routes = sorted((_CompiledRoute.of(route) for route in routes), key=lambda item: item.rank)
        self._functions = functions
        self._tokens = tokens

    async def handle(self, request: Request) -> Response:
        """Routes, authorizes, invokes and translates; every fault is the answer API Gateway gives."""
        found = self._find(request.method, request.url.path)
        if found is None:
            return _message(404, "Not Found")
        route, variables = found
        claims: dict[str, Any] | None = None
        try:
            if route.authorizer:
                claims = await self._tokens.claims(request.headers.get("authorization", ""), route.authorizer)
            body = await _body(request)
        except UnauthorizedError:
            return _message(401, "Unauthorized", {"www-authenticate": "Bearer"})
        except ForbiddenError:
            return _message(403, "Forbidden")
        except (_PayloadError, ClientDisconnect):
            return _message(413, "Request Entity Too Large")
        event = _event(request, route, variables, claims, body)
        try:
            work = self._functions.invoke(route.function, json.dumps(event).encode())
            outcome = await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(work)), INTEGRATION_SECONDS)
        except TimeoutError:
            return _message(503, "Service Unavailable")
        except PayloadTooLargeError:
            return _message(413, "Request Entity Too Large")
        return _answer(outcome)

    def _find(self, method: str, path: str) -> tuple[HttpRoute, dict[str, str]] | None:
        for item in self._routes:
            if item.route.method not in ("ANY", method):
                continue
            if item.route.path == "$default":
                return item.route, {}
            if match := item.pattern.match(path):
                return item.route, match.groupdict()
        return None


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > HTTP_PAYLOAD_BYTES:
            raise _PayloadError
    return bytes(content)


def _event(
    request: Request, route: HttpRoute, variables: dict[str, str], claims: dict[str, Any] | None, body: bytes
) -> dict[str, Any]:
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        if name != "cookie":
            headers[name] = f"{headers[name]},{value}" if name in headers else value
    query: dict[str, str] = {}
    for name, value in parse_qsl(request.url.query, keep_blank_values=True):
        query[name] = f"{query[name]},{value}" if name in query else value
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route.key,
        "rawPath": request.url.path,
        "rawQueryString": request.url.query,
        "headers": headers,
        "requestContext": _context(request, route, claims),
        "isBase64Encoded": False,
    }
    cookies = [part.strip() for part in request.headers.get("cookie", "").split(";") if part.strip()]
    event |= {"cookies": cookies} if cookies else {}
    event |= {"queryStringParameters": query} if query else {}
    event |= {"pathParameters": variables} if variables else {}
    if body:
        text = bool(_TEXT_TYPES.match(request.headers.get("content-type", "")))
        event["body"] = body.decode("utf-8", "replace") if text else base64.b64encode(body).decode()
        event["isBase64Encoded"] = not text
    return event


def _context(request: Request, route: HttpRoute, claims: dict[str, Any] | None) -> dict[str, Any]:
    now = time.time()
    context: dict[str, Any] = {
        "accountId": ACCOUNT_ID,
        "apiId": _API_ID,
        "domainName": request.headers.get("host", ""),
        "domainPrefix": _API_ID,
        "http": {
            "method": request.method,
            "path": request.url.path,
            "protocol": f"HTTP/{request.scope.get('http_version', '1.1')}",
            "sourceIp": request.client.host if request.client else "127.0.0.1",
            "userAgent": request.headers.get("user-agent", ""),
        },
        "requestId": str(uuid.uuid4()),
        "routeKey": route.key,
        "stage": "$default",
        "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
        "timeEpoch": int(now * 1000),
    }
    if claims is not None:
        scopes = list(route.authorizer.scopes) if route.authorizer and route.authorizer.scopes else None
        context["authorizer"] = {"jwt": {"claims": claims_for_function(claims), "scopes": scopes}}
    return context


def _answer(outcome: Outcome) -> Response:
    if outcome.failed:
        return _message(500, "Internal Server Error")
    try:
        result = json.loads(outcome.payload)
    except ValueError:
        return _message(500, "Internal Server Error")
    if not isinstance(result, dict) or "statusCode" not in result:
        return Response(outcome.payload, media_type="application/json")
    try:
        body = result.get("body") or ""
        content = base64.b64decode(body, validate=True) if result.get("isBase64Encoded") else body.encode()
        response = Response(content, int(result["statusCode"]))
        _set_headers(response, result)
    except (ValueError, TypeError, AttributeError, binascii.Error):
        return _message(500, "Internal Server Error")
    return response


def _set_headers(response: Response, result: dict[str, Any]) -> None:
    for name, value in (result.get("headers") or {}).items():
        if name.lower() != "content-length":
            response.headers[name] = str(value)
    for name, values in (result.get("multiValueHeaders") or {}).items():
        response.headers[name] = ",".join(str(value) for value in values)
    response.headers.setdefault("content-type", "text/plain; charset=utf-8")
    for cookie in result.get("cookies") or []:
        response.raw_headers.append((b"set-cookie", str(cookie).encode("latin-1")))


def _message(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"message": text}, status, headers=headers)
