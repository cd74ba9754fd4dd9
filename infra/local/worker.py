"""One execution environment: a process that runs one function under AWS's runtime client, one invocation at a time."""

import asyncio
import json
import signal
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from infra.local.account import MEGABYTE
from infra.local.deployment import FunctionSpec
from infra.local.processes import dies_with_parent, kill_family, resident_bytes

# AWS gives a cold start 10 s; here all functions may start at once on two cores.
INIT_SECONDS = 60.0


@dataclass(frozen=True)
class Outcome:
    """How an invocation ended: the function's answer, or the error document AWS would return (`failed`)."""

    payload: bytes
    failed: bool = False

    @classmethod
    def error(cls, kind: str, message: str) -> "Outcome":
        """An error that comes from the platform, not from the function's own code."""
        return cls(json.dumps({"errorType": kind, "errorMessage": message}).encode(), failed=True)


@dataclass
class Invocation:
    """One call on its way through a worker."""

    payload: bytes
    arn: str
    timeout_seconds: float
    client_context: str = ""
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    deadline_milliseconds: int = 0

    def headers(self) -> dict[str, str]:
        """Every header of the runtime API: the runtime client crashes when one is missing.

        https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
        """
        trace = uuid.UUID(self.request_id).hex
        return {
            "Lambda-Runtime-Aws-Request-Id": self.request_id,
            "Lambda-Runtime-Deadline-Ms": str(self.deadline_milliseconds),
            "Lambda-Runtime-Invoked-Function-Arn": self.arn,
            "Lambda-Runtime-Trace-Id": f"Root=1-{trace[:8]}-{trace[8:]};Parent={trace[:16]};Sampled=0",
            "Lambda-Runtime-Client-Context": self.client_context,
            "Lambda-Runtime-Cognito-Identity": "",
            "Content-Type": "application/json",
        }


class Worker:
    """A function's process. The runtime API calls `next`, `answer` and `init_failed` on its behalf."""

    def __init__(self, spec: FunctionSpec) -> None:
        self.spec = spec
        self.idle_since = time.monotonic()
        self._process: asyncio.subprocess.Process | None = None
        self._ready = asyncio.Event()
        self._inbox: asyncio.Queue[Invocation | None] = asyncio.Queue()
        self._current: Invocation | None = None
        self._outcome: asyncio.Future[Outcome] | None = None
        self._ended = asyncio.Event()
        self._init_error: Outcome | None = None
        self._killed = False
        self._killed_for_memory = False
        self._watcher: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The process id; 0 before the start."""
        return self._process.pid if self._process else 0

    @property
    def alive(self) -> bool:
        """Whether the process can take another invocation."""
        return self._process is not None and not self._ended.is_set() and not self._killed

    async def start(self, port: int, environment: Mapping[str, str], log_file: Path) -> None:
        """Starts the process, whose runtime API answers on `port`; output is appended to `log_file`."""
        with log_file.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "awslambdaric", self.spec.handler,
                cwd=self.spec.folder, env={**environment, "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{port}"},
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=dies_with_parent(signal.SIGKILL),
            )  # fmt: skip
        self._watcher = asyncio.create_task(self._watch())
        if self._killed:  # while it was being started
            self.kill()

    async def warmed(self) -> bool:
        """Waits until the process asks for work; False when its start failed."""
        ended = asyncio.create_task(self._ended.wait())
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({ended, ready}, timeout=INIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        ready.cancel()
        return self._ready.is_set() and self.alive

    async def run(self, invocation: Invocation) -> Outcome:
        """Runs one invocation; never raises for what the function does. The worker is dead after a platform error."""
        self._outcome = asyncio.get_running_loop().create_future()
        self._current = invocation
        try:
            if not await self.warmed():
                return self._start_failure(invocation)
            invocation.deadline_milliseconds = int((time.time() + invocation.timeout_seconds) * 1000)
            self._inbox.put_nowait(invocation)
            return await asyncio.wait_for(self._outcome, invocation.timeout_seconds)
        except TimeoutError:
            reason = f"Error: Task timed out after {invocation.timeout_seconds:.2f} seconds"
            return Outcome.error("Sandbox.Timedout", f"RequestId: {invocation.request_id} {reason}")
        finally:
            self._current = None
            self.idle_since = time.monotonic()
            if not self._outcome.done() or self._outcome.cancelled():
                self.kill()

    def _start_failure(self, invocation: Invocation) -> Outcome:
        self.kill()
        reason = "Error: Runtime exited before it asked for work"
        return self._init_error or Outcome.error("Runtime.ExitError", f"RequestId: {invocation.request_id} {reason}")

    async def next(self) -> Invocation | None:
        """The next invocation for the process; None when it is about to end."""
        self._ready.set()
        return await self._inbox.get()

    def answer(self, request_id: str, outcome: Outcome) -> bool:
        """Takes the function's answer; False when no such invocation is running."""
        if self._current is None or self._current.request_id != request_id or self._outcome is None:
            return False
        if not self._outcome.done():
            self._outcome.set_result(outcome)
        return True

    def init_failed(self, error: bytes) -> None:
        """The handler could not be loaded; `error` is the runtime's error document."""
        self._init_error = Outcome(error, failed=True)

    def kill(self) -> None:
        """Ends the process and whatever it started."""
        self._killed = True
        if self._process and self._process.returncode is None:
            kill_family(self._process.pid)

    async def ended(self) -> None:
        """Waits until the process is gone."""
        if self._process:
            await self._ended.wait()

    def enforce_memory(self) -> None:
        """Ends the process when at work it holds more memory than the template gives it, as AWS does."""
        if self._current and self.alive and resident_bytes(self.pid) > self.spec.memory_megabytes * MEGABYTE:
            self._killed_for_memory = True
            self.kill()

    async def _watch(self) -> None:
        assert self._process is not None
        code = await self._process.wait()
        self._ended.set()
        self._inbox.put_nowait(None)
        if self._outcome and self._current and not self._outcome.done():
            self._outcome.set_result(self._exit_outcome(code, self._current.request_id))

    def _exit_outcome(self, code: int, request_id: str) -> Outcome:
        if self._killed_for_memory:
            return Outcome.error("Runtime.OutOfMemory", f"RequestId: {request_id} Error: Runtime exited: out of memory")
        how = f"signal: {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return Outcome.error("Runtime.ExitError", f"RequestId: {request_id} Error: Runtime exited with error: {how}")
