"""The twin's Lambda service: every function in processes of its own, started on demand and reused."""

import asyncio
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.local.account import (
    ACCOUNT_ID,
    LAMBDA_ASYNC_PAYLOAD_BYTES,
    LAMBDA_SYNC_PAYLOAD_BYTES,
    REGION,
    base_environment,
)
from infra.local.deployment import FunctionSpec
from infra.local.opt import mounted
from infra.local.worker import Invocation, Outcome, Worker

log = logging.getLogger(__name__)

# An account's thousand environments do not fit on a laptop; more calls than this wait for a free process.
PROCESSES_PER_FUNCTION = max(4, min(16, 2 * (os.cpu_count() or 2)))
IDLE_SECONDS = 900.0


class UnknownFunctionError(Exception):
    """The template has no function of that name."""


class PayloadTooLargeError(Exception):
    """The request is larger than Lambda takes."""


@dataclass
class _Pool:
    spec: FunctionSpec
    workers: list[Worker] = field(default_factory=list)
    idle: list[Worker] = field(default_factory=list)
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    def let_one_in(self) -> None:
        """There is a free process, or room for a new one: the call that has waited longest may try again."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return


class Functions:
    """Invokes the template's functions. All methods belong to the twin's event loop.

    `ports` are the listening sockets of the runtime API; a process is known by the port it talks to.
    `retry_seconds` are the pauses before an asynchronous invocation is tried again (AWS: one and two minutes).
    """

    def __init__(
        self,
        aws_environment: Mapping[str, str],
        ports: Sequence[int],
        state: Path,
        retry_seconds: Sequence[float] = (60.0, 120.0),
    ) -> None:
        self._aws_environment = dict(aws_environment)
        self._free_ports = list(ports)
        self._port_freed = asyncio.Condition()
        self._by_port: dict[int, Worker] = {}
        self._pools: dict[str, _Pool] = {}
        self._logical: dict[str, str] = {}
        self._state = state
        self._retry_seconds = retry_seconds
        self._background: set[asyncio.Task[None]] = set()
        self._closing = False

    def deploy(self, specs: Mapping[str, FunctionSpec]) -> None:
        """Takes over the template's functions, by logical name."""
        self._pools = {spec.name: _Pool(spec) for spec in specs.values()}
        for logical, spec in specs.items():
            self._logical |= dict.fromkeys((logical, spec.folder.name, spec.name, spec.arn), spec.name)
        self._spawn(self._housekeeping())

    def pids(self, name: str) -> list[int]:
        """The living processes of a function, by its logical name, its folder's name or its name on AWS."""
        return [worker.pid for worker in self._pool(name).workers if worker.alive]

    async def invoke(self, name: str, payload: bytes, client_context: str = "") -> Outcome:
        """Runs a function and waits for its answer. Raises UnknownFunctionError and PayloadTooLargeError."""
        pool = self._pool(name)
        if len(payload) > LAMBDA_SYNC_PAYLOAD_BYTES:
            raise PayloadTooLargeError(f"{len(payload)} bytes, the limit is {LAMBDA_SYNC_PAYLOAD_BYTES}")
        invocation = Invocation(payload, pool.spec.arn, pool.spec.timeout_seconds, client_context)
        if self._closing:
            return Outcome.error("ServiceException", "The twin is stopping.")
        worker = await self._acquire(pool)
        try:
            outcome = await worker.run(invocation)
        finally:
            self._release(pool, worker)
        if len(outcome.payload) > LAMBDA_SYNC_PAYLOAD_BYTES:
            message = f"Response payload size exceeded maximum allowed payload size ({LAMBDA_SYNC_PAYLOAD_BYTES} bytes)"
            return Outcome.error("Function.ResponseSizeTooLarge", message)
        return outcome

    def invoke_later(self, name: str, payload: bytes, client_context: str = "") -> None:
        """Queues an asynchronous invocation, which is tried up to three times. Raises as `invoke`."""
        self._pool(name)
        if len(payload) > LAMBDA_ASYNC_PAYLOAD_BYTES:
            raise PayloadTooLargeError(f"{len(payload)} bytes, the limit is {LAMBDA_ASYNC_PAYLOAD_BYTES}")
        self._spawn(self._with_retries(name, payload, client_context))

    async def warm(self, name: str) -> None:
        """Starts a process of the function ahead of the first invocation, unless one is there."""
        pool = self._pool(name)
        if not pool.workers:
            worker = await self._start(pool)
            await worker.warmed()
            self._release(pool, worker)

    def worker_at(self, port: int) -> Worker | None:
        """The process that talks to the runtime API on `port`."""
        return self._by_port.get(port)

    async def close(self) -> None:
        """Ends all processes."""
        self._closing = True
        for task in self._background:
            task.cancel()
        workers = [worker for pool in self._pools.values() for worker in pool.workers]
        for worker in workers:
            worker.kill()
        await asyncio.gather(*(worker.ended() for worker in workers))

    def _pool(self, name: str) -> _Pool:
        try:
            return self._pools[self._logical[name]]
        except KeyError:
            raise UnknownFunctionError(name) from None

    async def _acquire(self, pool: _Pool) -> Worker:
        while True:
            while pool.idle:
                worker = pool.idle.pop()
                if worker.alive:
                    return worker
            if len(pool.workers) < PROCESSES_PER_FUNCTION:
                return await self._start(pool)
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            pool.waiting.append(turn)
            await turn

    def _release(self, pool: _Pool, worker: Worker) -> None:
        if worker.alive:
            pool.idle.append(worker)
            pool.let_one_in()

    async def _start(self, pool: _Pool) -> Worker:
        worker = Worker(pool.spec)
        pool.workers.append(worker)
        async with self._port_freed:
            await self._port_freed.wait_for(lambda: self._free_ports)
            port = self._free_ports.pop()
        self._by_port[port] = worker
        logs = self._state / "logs"
        await worker.start(port, self._environment(pool.spec), logs / f"{pool.spec.folder.name}.log")
        self._spawn(self._bury(pool, worker, port))
        return worker

    async def _bury(self, pool: _Pool, worker: Worker, port: int) -> None:
        await worker.ended()
        pool.workers.remove(worker)
        if worker in pool.idle:
            pool.idle.remove(worker)
        pool.let_one_in()
        del self._by_port[port]
        async with self._port_freed:
            self._free_ports.append(port)
            self._port_freed.notify()

    def _environment(self, spec: FunctionSpec) -> dict[str, str]:
        """https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime"""
        layers = [folder for folder in spec.layers if folder.is_dir()]
        return {
            **base_environment(),
            **self._aws_environment,
            **mounted(self._state / "opt" / spec.folder.name, layers, spec.environment),
            "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
            "AWS_ACCOUNT_ID": ACCOUNT_ID,
            "AWS_LAMBDA_FUNCTION_NAME": spec.name,
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(spec.memory_megabytes),
            "AWS_LAMBDA_LOG_FORMAT": spec.log_format,
            "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{spec.name}",
            "AWS_LAMBDA_LOG_STREAM_NAME": f"{time.strftime('%Y/%m/%d')}/[$LATEST]local",
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_REGION": REGION,
            "AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR",
            "AWS_XRAY_DAEMON_ADDRESS": "127.0.0.1:2000",
            "LAMBDA_TASK_ROOT": str(spec.folder),
            "LANG": "en_US.UTF-8",
            "PYTHONPATH": os.pathsep.join(str(folder) for folder in layers),
            "PYTHONUTF8": "1",
            "TZ": ":UTC",
            "_HANDLER": spec.handler,
        }

    async def _with_retries(self, name: str, payload: bytes, client_context: str) -> None:
        for pause in (*self._retry_seconds, None):
            outcome = await self.invoke(name, payload, client_context)
            if not outcome.failed:
                return
            if pause is not None:
                await asyncio.sleep(pause)
        log.warning("asynchronous invocation given up", extra={"function": name})

    async def _housekeeping(self) -> None:
        """Watches memory, and ends processes that have had nothing to do for long, all but one per function."""
        while not self._closing:
            await asyncio.sleep(0.25)
            for pool in self._pools.values():
                for worker in list(pool.workers):
                    worker.enforce_memory()
                for worker in [item for item in pool.idle[1:] if time.monotonic() - item.idle_since > IDLE_SECONDS]:
                    pool.idle.remove(worker)
                    worker.kill()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def listening_sockets(count: int) -> list[socket.socket]:
    """`count` listening sockets on free loopback ports."""
    sockets = []
    for _ in range(count):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        sockets.append(listener)
    return sockets
