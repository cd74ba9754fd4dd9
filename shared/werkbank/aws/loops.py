"""The state machines: a run's id is its execution's name, so that it can start only once."""

import json

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from werkbank.domain.errors import LoopUnavailable
from werkbank.domain.runs import RunRef
from werkbank.observability import logger

# All tries together fit into the 29 s of the socket's function, so that its user is told.
_CONFIG = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 3, "mode": "standard"})
_NOT_STARTED = "Werkbank could not begin: its state machine does not take on work at the moment. Please try again."


class StateMachine:
    """Starts and stops executions of one state machine."""

    def __init__(self, arn: str) -> None:
        self._arn = arn
        self._client = boto3.client("stepfunctions", config=_CONFIG)

    def start(self, run: RunRef, **ids: str) -> None:
        """Start the run's execution; a second start of the same run changes nothing. Raises LoopUnavailable."""
        try:
            self._client.start_execution(
                stateMachineArn=self._arn, name=run.run_id, input=json.dumps(run.to_wire() | ids, sort_keys=True)
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise LoopUnavailable(_NOT_STARTED) from error
        except BotoCoreError as error:
            raise LoopUnavailable(_NOT_STARTED) from error

    def wake(self, task_token: str) -> None:
        """Let an execution that waits on this token go on; one that waits no longer is left alone."""
        try:
            self._client.send_task_success(taskToken=task_token, output="{}")
        except ClientError as error:
            if error.response["Error"]["Code"] not in {"TaskTimedOut", "TaskDoesNotExist", "InvalidToken"}:
                raise

    def stop(self, run: RunRef) -> None:
        """Stop the run's execution if it is still going. Never raises: the loop ends by itself once its run has."""
        try:
            self._client.stop_execution(
                executionArn=f"{self._arn.replace(':stateMachine:', ':execution:')}:{run.run_id}"
            )
        except (ClientError, BotoCoreError) as error:
            if not isinstance(error, ClientError) or error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                logger.warning("execution not stopped", extra={"runId": run.run_id, "error": type(error).__name__})
