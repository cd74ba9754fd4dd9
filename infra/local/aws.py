"""AWS's services from moto, in a process of their own: its work never delays the gateway, and it starts empty."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.local.account import CREDENTIALS, REGION, StartError, base_environment
from infra.local.processes import ROOT, stop


@dataclass
class Aws:
    """Where the services answer, and clients for them."""

    endpoint: str
    _clients: dict[str, Any] = field(default_factory=dict)

    def client(self, service: str) -> Any:
        """The boto3 client of a service; one is made per service and may be used from any thread."""
        if service not in self._clients:
            import boto3
            from botocore.config import Config

            # boto3-stubs overloads `client` by literal names only.
            session: Any = boto3.Session(
                aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
                aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
                region_name=REGION,
            )
            config = Config(retries={"total_max_attempts": 1}, read_timeout=60, max_pool_connections=32)
            self._clients[service] = session.client(service, endpoint_url=self.endpoint, config=config)
        return self._clients[service]

    def environment(self) -> dict[str, str]:
        """What a process needs to reach these services with any AWS SDK."""
        return {**CREDENTIALS, "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION, "AWS_ENDPOINT_URL": self.endpoint}

    def put_secret(self, name: str, value: str) -> str:
        """Makes a secret and returns its ARN."""
        arn: str = self.client("secretsmanager").create_secret(Name=name, SecretString=value)["ARN"]
        return arn


class AwsProcess:
    """The process that runs moto (`infra.local.aws_server`); it ends when its standard input closes."""

    def __init__(self, state: Path, log: Path) -> None:
        self._state = state
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, invoke_url: str, page: str) -> Aws:
        """Starts moto, which sends invocations to `invoke_url` and lets browsers in from `page`.

        Raises StartError when it does not come up.
        """
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "infra.local.aws_server", str(self._state), invoke_url, page,
                stdin=PIPE, stdout=PIPE, stderr=log, cwd=ROOT, start_new_session=True,
                env={**base_environment(), **CREDENTIALS, "AWS_DEFAULT_REGION": REGION},
            )  # fmt: skip
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise StartError(f"moto did not start; {self._log} says why.")
        return Aws(line.decode().strip())

    @property
    def pid(self) -> int:
        """The process id; 0 before the start."""
        return self._process.pid if self._process else 0

    async def stop(self) -> None:
        """Ends the process; objects are on disk already."""
        if self._process and self._process.stdin:
            self._process.stdin.close()
            await stop(self._process, grace_seconds=3)
