"""The state machines: a run's id is its execution's name, so that it can start only once."""

import json

import boto3
from botocore.exceptions import ClientError

from werkbank.domain.runs import RunRef


class StateMachine:
    """Starts and stops executions of one state machine."""

    def __init__(self, arn: str) -> None:
        self._arn = arn
        self._client = boto3.client("stepfunctions")

    def start(self, run: RunRef, **ids: str) -> None:
        """Start the run's execution; a second start of the same run changes nothing."""
        try:
            self._client.start_execution(
                stateMachineArn=self._arn, name=run.run_id, input=json.dumps(run.to_wire() | ids, sort_keys=True)
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise

    def wake(self, task_token: str) -> None:
        """Let an execution that waits on this token go on; one that waits no longer is left alone."""
        try:
            self._client.send_task_success(taskToken=task_token, output="{}")
        except ClientError as error:
            if error.response["Error"]["Code"] not in {"TaskTimedOut", "TaskDoesNotExist", "InvalidToken"}:
                raise

    def stop(self, run: RunRef) -> None:
        """Stop the run's execution if it is still going."""
        try:
            self._client.stop_execution(
                executionArn=f"{self._arn.replace(':stateMachine:', ':execution:')}:{run.run_id}"
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                raise
