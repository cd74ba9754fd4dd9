"""The twin's servers: one for the browser, one for its own processes. Both listen on 127.0.0.1 only."""

import asyncio
import logging
import socket
from collections.abc import Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from infra.local.account import HOST, SOCKET_FRAME_BYTES, SOCKET_MESSAGE_BYTES, StartError
from infra.local.http_api import HttpApi
from infra.local.sign_in import SignIn
from infra.local.socket_api import SocketGateway

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

# A web page from elsewhere may call ports of this machine: under a name of its own that resolves to 127.0.0.1 (DNS
# rebinding), or blindly across origins. Neither reaches anything here.
_OWN_HOST = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"], www_redirect=False)


class _NoBrowsers:
    """Refuses every request that a web page made: browsers say so in Origin, the twin's processes send none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from_page = any(name == b"origin" for name, _ in scope.get("headers", ()))
        await (Response(status_code=403) if from_page else self._app)(scope, receive, send)


def gateway_application(http: HttpApi, sockets: SocketGateway | None, stage: str, sign_in: SignIn) -> ASGIApp:
    """What the browser talks to: sign-in, the WebSocket API at `/<stage>`, and the HTTP API for everything else."""

    async def http_request(request: Request) -> Response:
        return await http.handle(request)

    async def web_socket(connection: WebSocket) -> None:
        assert sockets is not None
        await sockets.serve(connection)

    routes: list[BaseRoute] = [*sign_in.routes(), Route("/{path:path}", http_request, methods=_METHODS)]
    if sockets:
        routes.append(WebSocketRoute(f"/{stage}", web_socket))
    return Starlette(routes=routes, middleware=[_OWN_HOST])


def internal_application(routes: Sequence[BaseRoute]) -> ASGIApp:
    """What the twin's processes talk to: runtime API, invocations, pushes."""
    return Starlette(routes=list(routes), middleware=[_OWN_HOST, Middleware(_NoBrowsers)])


class Server:
    """A uvicorn server on sockets that are bound already, inside the running event loop."""

    def __init__(self, application: ASGIApp, sockets: list[socket.socket]) -> None:
        config = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            lifespan="off",
            loop="asyncio",  # the one the twin runs in, whatever else is installed
            ws="websockets-sansio",
            # A tuple limits message and frame separately; uvicorn hands it to the websockets library as it is.
            ws_max_size=(SOCKET_MESSAGE_BYTES, SOCKET_FRAME_BYTES),  # type: ignore[arg-type]
            ws_ping_interval=None,  # API Gateway sends no pings
            timeout_keep_alive=60,
            timeout_graceful_shutdown=1,
            backlog=512,
        )
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._server = uvicorn.Server(config)
        self._sockets = sockets
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begins to accept connections."""
        self._task = asyncio.create_task(self._server.serve(self._sockets))
        while not self._server.started and not self._task.done():
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Closes the listening sockets, then the connections."""
        self._server.should_exit = True
        if self._task:
            await asyncio.wait({self._task}, timeout=5)


def bind(port: int) -> socket.socket:
    """A listening socket for the page; 0 picks a free port. Raises StartError when the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise StartError(f"Port {port} is in use. Choose another one: PORT={port + 1} make run") from error
    return listener
