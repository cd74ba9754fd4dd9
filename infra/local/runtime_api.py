"""The services behind the edges, for the twin's own processes only: Lambda's runtime API, Lambda's invocation API,
and the address to which custom resources report.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from infra.local.functions import Functions, PayloadTooLargeError, UnknownFunctionError
from infra.local.worker import Outcome, Worker

_RUNTIME = "/2018-06-01/runtime"


class RuntimeApi:
    """Routes for the functions' runtime clients. The port of the connection says which process is calling."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def routes(self) -> list[Route]:
        """The runtime API, for all of its ports."""
        return [
            Route(f"{_RUNTIME}/invocation/next", self._next),
            Route(f"{_RUNTIME}/invocation/{{request_id}}/response", self._response, methods=["POST"]),
            Route(f"{_RUNTIME}/invocation/{{request_id}}/error", self._error, methods=["POST"]),
            Route(f"{_RUNTIME}/init/error", self._init_error, methods=["POST"]),
        ]

    def _worker(self, request: Request) -> Worker | None:
        server = request.scope.get("server")
        return self._functions.worker_at(server[1]) if server else None

    async def _next(self, request: Request) -> Response:
        worker = self._worker(request)
        invocation = await worker.next() if worker else None
        if invocation is None:
            return Response(status_code=410)
        return Response(invocation.payload, headers=invocation.headers())

    async def _response(self, request: Request) -> Response:
        return self._take(request, Outcome(await request.body()))

    async def _error(self, request: Request) -> Response:
        return self._take(request, Outcome(await request.body(), failed=True))

    def _take(self, request: Request, outcome: Outcome) -> Response:
        worker = self._worker(request)
        if worker is None or not worker.answer(request.path_params["request_id"], outcome):
            error = {"errorType": "InvalidRequestID", "errorMessage": "Invalid request ID"}
            return JSONResponse(error, 400)
        return JSONResponse({"status": "OK"}, 202)

    async def _init_error(self, request: Request) -> Response:
        if worker := self._worker(request):
            worker.init_failed(await request.body())
        return JSONResponse({"status": "OK"}, 202)


class InvokeApi:
    """Lambda's Invoke for moto, and the pre-signed address of CloudFormation's custom resources."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._reports: dict[str, asyncio.Future[bytes]] = {}

    def routes(self) -> list[Route]:
        """The routes that moto and custom resources call."""
        return [
            Route("/invoke/{name}", self._invoke, methods=["POST"]),
            Route("/custom-resource/{name}", self._report, methods=["PUT"]),
        ]

    def expect_report(self, name: str) -> "asyncio.Future[bytes]":
        """A future for what the custom resource `name` will report."""
        return self._reports.setdefault(name, asyncio.get_running_loop().create_future())

    async def _report(self, request: Request) -> Response:
        report = self._reports.get(request.path_params["name"])
        if report is None or report.done():
            return Response(status_code=403)
        report.set_result(await request.body())
        return Response()

    async def _invoke(self, request: Request) -> Response:
        name, payload = request.path_params["name"], await request.body()
        context = request.headers.get("X-Amz-Client-Context", "")
        try:
            if request.headers.get("X-Amz-Invocation-Type") == "Event":
                self._functions.invoke_later(name, payload, context)
                return Response(status_code=202)
            outcome = await self._functions.invoke(name, payload, context)
        except UnknownFunctionError:
            return JSONResponse({"Type": "User", "Message": f"Function not found: {name}"}, 404)
        except PayloadTooLargeError as error:
            outcome = Outcome.error("RequestTooLargeException", str(error))
        headers = {"X-Amz-Executed-Version": "$LATEST"}
        if outcome.failed:
            headers["X-Amz-Function-Error"] = "Unhandled"
        return Response(outcome.payload, headers=headers, media_type="application/json")
