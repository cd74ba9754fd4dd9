"""Keeps running state machines over a restart, as AWS does.

moto's interpreter lives in memory. Each execution has a file while it runs; those that are left at the next start are
started again from their beginning, under their own name. Every state is idempotent: what was done is not done twice.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from infra.local.aws import Aws


@dataclass(frozen=True)
class Execution:
    """What StartExecution was called with."""

    machine_arn: str
    name: str
    input: str


class ExecutionStore:
    """One JSON file per running execution."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def started(self, execution: Execution) -> None:
        """Remembers an execution until it has ended."""
        file = self._file(execution)
        partial = file.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(execution)), encoding="utf-8")
        os.replace(partial, file)

    def ended(self, execution: Execution) -> None:
        """Forgets an execution, however it ended."""
        self._file(execution).unlink(missing_ok=True)

    def count(self) -> int:
        """How many executions are running."""
        return len(list(self._folder.glob("*.json")))

    def resume(self, aws: Aws) -> None:
        """Starts what was running when the twin went down; a state machine that is gone takes its executions along."""
        client = aws.client("stepfunctions")
        for file in self._folder.glob("*.json"):
            execution = Execution(**json.loads(file.read_text(encoding="utf-8")))
            try:
                client.start_execution(
                    stateMachineArn=execution.machine_arn, name=execution.name, input=execution.input
                )
            except client.exceptions.StateMachineDoesNotExist:
                file.unlink()

    def _file(self, execution: Execution) -> Path:
        digest = hashlib.sha256(f"{execution.machine_arn} {execution.name}".encode()).hexdigest()
        return self._folder / f"{digest}.json"
