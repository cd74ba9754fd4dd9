"""Puts the twin together: `LocalStack` starts everything in the right order and stops it again."""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from infra.local.account import HOST, STACK_NAME, StartError
from infra.local.aws import Aws, AwsProcess
from infra.local.deployment import Addresses, CustomResource, Deployment, deploy
from infra.local.events import QueuePollers
from infra.local.executions import ExecutionStore
from infra.local.functions import Functions, listening_sockets
from infra.local.gateway import Server, bind, gateway_application, internal_application
from infra.local.http_api import HttpApi
from infra.local.model_keys import store_model_keys
from infra.local.outputs import LocalOutputs
from infra.local.postgres import Login, Postgres
from infra.local.processes import ROOT
from infra.local.runtime_api import InvokeApi, RuntimeApi
from infra.local.sign_in import SignIn
from infra.local.socket_api import SocketGateway, SocketLimits
from infra.local.template import Template, load_template
from infra.local.tokens import TokenVerifier
from infra.local.users import GROUPS, UserPool, create_user_pool

T = TypeVar("T")

_RUNTIME_PORTS = 96  # as many function processes may live at once
# The twin's own values for parameters whose defaults are meant for AWS.
_PARAMETERS = {"Mandate": GROUPS[0].removeprefix("mandate:")}


class LocalStack:
    """The whole system on this machine, from one template.

    Usable as a context manager; the methods may be called from any thread.
    """

    def __init__(
        self,
        template: Path = ROOT / "template.yaml",
        state_dir: Path = ROOT / ".werkbank",
        port: int = 0,
        environment: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        socket_limits: SocketLimits | None = None,
        retry_seconds: Sequence[float] = (60.0, 120.0),
    ) -> None:
        """`port` 0 picks a free one. `environment` (default: this process's) is where the model keys are read from."""
        self._template_path = template
        self._state = state_dir.resolve()
        self._port = port
        self._environment = os.environ if environment is None else environment
        self._parameters = {**_PARAMETERS, **(parameters or {})}
        self._socket_limits = socket_limits or SocketLimits()
        self._retry_seconds = retry_seconds
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="twin", daemon=True)
        self._cleanup: list[Callable[[], Awaitable[None]]] = []
        self._sockets: SocketGateway | None = None
        self.url = ""
        self.owner: Login | None = None
        self.app: Login | None = None

    # Using it -----------------------------------------------------------------------------------------------------

    def __enter__(self) -> "LocalStack":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Starts everything. Raises StartError, whose text says what to do, after stopping what had started."""
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(self._start(), self._loop)
        try:
            starting.result()
        except BaseException:
            starting.cancel()
            self.stop()
            raise

    def stop(self) -> None:
        """Stops everything that was started, in reverse order."""
        if not self._loop.is_closed() and self._thread.is_alive():
            self._call(self._stop())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
            self._loop.close()

    @property
    def aws_endpoint(self) -> str:
        """Where AWS's services answer."""
        return self._aws.endpoint

    def aws_environment(self) -> dict[str, str]:
        """Environment variables with which any AWS SDK reaches the services."""
        return self._aws.environment()

    def client(self, service: str) -> Any:
        """A boto3 client for the twin's services."""
        return self._aws.client(service)

    def function_environment(self, name: str) -> Mapping[str, str]:
        """A function's own environment variables, by its logical name."""
        return self._deployment.functions[name].environment

    def function_pids(self, name: str) -> list[int]:
        """The living processes of a function, by its folder's name (`agent_round`) or its logical name."""
        return self._call(self._pids(name))

    def child_pids(self) -> list[int]:
        """Every process the twin has started: moto, PostgreSQL and the functions."""
        names = list(self._deployment.functions)
        pids = [pid for name in names for pid in self.function_pids(name)]
        return [self._aws_process.pid, self._postgres.pid, *pids]

    def running_executions(self) -> int:
        """How many executions of state machines are under way."""
        return self._executions.count()

    def invoke(self, name: str, event: object) -> Any:
        """Invokes a function and returns its answer. Raises FunctionError with the error document."""
        outcome = self._call(self._functions.invoke(name, json.dumps(event).encode()))
        answer = json.loads(outcome.payload)
        if outcome.failed:
            raise FunctionError(answer)
        return answer

    def warm_all(self) -> None:
        """Starts one process of every function, a few at a time."""
        self._call(self._warm(list(self._deployment.functions)))

    def throttle_pushes(self, count: int) -> None:
        """The next `count` pushes to sockets fail with LimitExceededException."""
        assert self._sockets is not None
        self._loop.call_soon_threadsafe(self._sockets.throttle, count)

    def drop_sockets(self) -> None:
        """Cuts all WebSocket connections."""
        assert self._sockets is not None
        self._loop.call_soon_threadsafe(self._sockets.drop_all)

    def access_token(self) -> str:
        """An access token of the demo user, as the sign-in page would give it."""
        result = self.client("cognito-idp").admin_initiate_auth(
            UserPoolId=self._pool.pool_id,
            ClientId=self._pool.client_id,
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": "demo", "PASSWORD": self._pool.password},
        )
        token: str = result["AuthenticationResult"]["AccessToken"]
        return token

    @property
    def client_id(self) -> str:
        """The page's OpenID Connect client."""
        return self._pool.client_id

    # Starting it --------------------------------------------------------------------------------------------------

    async def _start(self) -> None:
        page, (internal, database, *runtime) = bind(self._port), listening_sockets(2 + _RUNTIME_PORTS)
        self._cleanup += [_as_async(item.close) for item in (page, internal, *runtime)]
        self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._state / "logs").mkdir(exist_ok=True)
        self.url = f"http://{HOST}:{page.getsockname()[1]}"
        self._internal = f"http://{HOST}:{internal.getsockname()[1]}"
        database_port = database.getsockname()[1]
        database.close()
        template = asyncio.create_task(asyncio.to_thread(load_template, self._template_path, self._parameters))
        self._aws_process = AwsProcess(self._state, self._state / "logs" / "aws.log")
        self._postgres = Postgres(self._state, database_port)
        self._cleanup += [self._postgres.stop, self._aws_process.stop]  # moto again, should the start fail half-way
        self._aws, (self.owner, self.app) = await _both(
            self._aws_process.start(f"{self._internal}/invoke", self.url), self._postgres.start()
        )
        self._functions = Functions(
            self._aws.environment(), [item.getsockname()[1] for item in runtime], self._state, self._retry_seconds
        )
        invocations = InvokeApi(self._functions)
        self._deployment = await asyncio.to_thread(self._deploy, await template)
        await self._serve(page, [internal, *runtime], invocations)
        self._functions.deploy(self._deployment.functions)
        warming = asyncio.create_task(self._warm(self._deployment.apis.functions()))
        await asyncio.gather(*(self._create(item, invocations) for item in self._deployment.custom))
        await asyncio.to_thread(self._configure_buckets)
        pollers = QueuePollers(self._aws, self._functions, self._loop)
        pollers.start(self._deployment.sources)
        self._cleanup.append(_as_async(pollers.stop))
        self._executions = ExecutionStore(self._state / "executions")
        await asyncio.to_thread(self._executions.resume, self._aws)
        await warming

    def _deploy(self, template: Template) -> Deployment:
        assert self.owner
        assert self.app
        self._pool: UserPool = create_user_pool(self._aws)
        outputs = LocalOutputs(
            app_secret_arn=self._aws.put_secret(f"{STACK_NAME}/app", self.app.secret()),
            owner_secret_arn=self._aws.put_secret(f"{STACK_NAME}/owner", self.owner.secret()),
            issuer=self._pool.issuer,
            client_id=self._pool.client_id,
            authorize_url=f"{self.url}/oauth2/authorize",
            token_url=f"{self.url}/oauth2/token",
            logout_url=f"{self.url}/logout",
        )
        addresses = Addresses(self.url, self.url.replace("http", "ws", 1), self._internal)
        deployment = deploy(template, self._aws, outputs.by_name(), addresses)
        store_model_keys(self._aws, deployment, self._environment)
        return deployment

    async def _serve(self, page: Any, internal: list[Any], invocations: InvokeApi) -> None:
        apis = self._deployment.apis
        if apis.socket:
            self._sockets = SocketGateway(apis.socket, self._functions, self._socket_limits)
        http = HttpApi(apis.http, self._functions, TokenVerifier(self._aws.endpoint))
        sign_in = SignIn(self._aws, self._pool, self.url)
        stage = apis.socket.stage if apis.socket else ""
        inside = [*RuntimeApi(self._functions).routes(), *invocations.routes()]
        inside += self._sockets.routes() if self._sockets else []
        for server in (
            Server(internal_application(inside), internal),
            Server(gateway_application(http, self._sockets, stage, sign_in), [page]),
        ):
            await server.start()
            self._cleanup.append(server.stop)
        # Last to start, first to end: moto must not see functions fail that only go down with the twin.
        self._cleanup += [self._functions.close, self._aws_process.stop]

    async def _create(self, resource: CustomResource, invocations: InvokeApi) -> None:
        """Plays CloudFormation to a custom resource: its function must report success to the address it is given."""
        report = invocations.expect_report(resource.name)
        event = {
            "RequestType": "Create",
            "ResponseURL": f"{self._internal}/custom-resource/{resource.name}",
            "StackId": f"arn:aws:cloudformation:local:stack/{STACK_NAME}",
            "RequestId": resource.name,
            "ResourceType": resource.kind,
            "LogicalResourceId": resource.name,
            "ResourceProperties": dict(resource.properties),
        }
        outcome = await self._functions.invoke(resource.function, json.dumps(event).encode())
        if outcome.failed:
            raise StartError(f"{resource.name} failed: {outcome.payload.decode()}; see {self._state / 'logs'}.")
        if not report.done():
            raise StartError(f"{resource.name} did not report to CloudFormation; see {self._state / 'logs'}.")
        answer = json.loads(report.result())
        if answer.get("Status") != "SUCCESS":
            raise StartError(f"{resource.name} failed: {answer.get('Reason', 'no reason given')}")

    def _configure_buckets(self) -> None:
        """What moto's CloudFormation leaves out. The first call also brings the bucket's objects back from disk."""
        s3 = self._aws.client("s3")
        for bucket in self._deployment.buckets:
            s3.head_bucket(Bucket=bucket.name)
            if bucket.versioned:
                s3.put_bucket_versioning(Bucket=bucket.name, VersioningConfiguration={"Status": "Enabled"})
            if bucket.notifies:
                configuration: dict[str, Any] = {"EventBridgeConfiguration": {}}
                s3.put_bucket_notification_configuration(Bucket=bucket.name, NotificationConfiguration=configuration)

    async def _warm(self, names: list[str]) -> None:
        limit = asyncio.Semaphore(os.cpu_count() or 2)

        async def warm(name: str) -> None:
            async with limit:
                await self._functions.warm(name)

        await asyncio.gather(*(warm(name) for name in names))

    async def _pids(self, name: str) -> list[int]:
        return self._functions.pids(name)

    async def _stop(self) -> None:
        while self._cleanup:
            await self._cleanup.pop()()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result()


class FunctionError(Exception):
    """A function failed; `document` is what Lambda returned (errorType, errorMessage, stackTrace)."""

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(f"{document.get('errorType')}: {document.get('errorMessage')}")
        self.document = document


async def _both(first: Coroutine[Any, Any, Aws], second: Coroutine[Any, Any, T]) -> tuple[Aws, T]:
    """Both at once; when one fails, the other is awaited before the error goes on, so that it can be stopped."""
    one, two = await asyncio.gather(first, second, return_exceptions=True)
    for result in (one, two):
        if isinstance(result, BaseException):
            raise result
    assert isinstance(one, Aws)
    assert not isinstance(two, BaseException)
    return one, two


def _as_async(action: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        action()

    return run
