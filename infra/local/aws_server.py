"""The process that runs moto: `python -m infra.local.aws_server STATE_DIR INVOKE_URL PAGE_ORIGIN`.

Prints its address on the first line and runs until its standard input closes.
"""

import json
import logging
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import urllib3
from moto.awslambda_simple.models import LambdaSimpleBackend
from moto.core.config import default_user_config
from moto.events.models import Rule, events_backends
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler
from moto.stepfunctions import models
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.utils.boto_client import boto_client_for
from moto.stepfunctions.parser.backend.execution import BaseExecutionWorkerCommunication
from moto.stepfunctions.parser.backend.execution import Execution as RunningExecution
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

from infra.local.account import ACCOUNT_ID, HOST, REGION
from infra.local.executions import Execution, ExecutionStore
from infra.local.objects import ObjectStore

_INVOCATION_TYPE = "X-Amz-Invocation-Type"
_FORWARDED = (_INVOCATION_TYPE, "X-Amz-Client-Context")
_EXECUTION_CHANGED = "Step Functions Execution Status Change"
_RETURNED = ("X-Amz-Function-Error", "X-Amz-Executed-Version")


def route_invocations(invoke_url: str) -> None:
    """Sends every invocation that reaches moto (SDK, state machine or rule) to the twin's own Lambda service."""
    pool = urllib3.PoolManager(maxsize=64, retries=False)
    send = Rule.send_to_targets

    def invoke(
        self: LambdaSimpleBackend,
        function_name: str,
        qualifier: str | None,
        body: Any,
        headers: Any,
        response_headers: Any,
    ) -> bytes | None:
        name = self.get_function(function_name, None).function_name
        sent = {key: headers[key] for key in _FORWARDED if headers.get(key)}
        payload = body.encode() if isinstance(body, str) else body
        answer = pool.request("POST", f"{invoke_url}/{name}", body=payload or b"{}", headers=sent, timeout=None)
        response_headers.update({key: answer.headers[key] for key in _RETURNED if key in answer.headers})
        return answer.data

    def send_to_targets(self: Rule, original_event: Any, transform_input: bool = True) -> None:
        functions = [target["Arn"].rpartition(":")[2] for target in self.targets if ":lambda:" in target["Arn"]]
        if not functions:
            send(self, original_event, transform_input)
        elif self.event_pattern.matches_event(original_event):
            body = json.dumps(original_event).encode()
            for name in functions:
                pool.request("POST", f"{invoke_url}/{name}", body=body, headers={_INVOCATION_TYPE: "Event"})

    LambdaSimpleBackend.invoke = invoke  # type: ignore[method-assign]
    Rule.send_to_targets = send_to_targets  # type: ignore[method-assign]


def keep_clients() -> None:
    """The interpreter makes a new boto3 client for each task, which costs more than the task and is not thread-safe."""

    @lru_cache
    def client(region: str) -> Any:
        return boto_client_for(region=region, service="lambda")

    def client_for(region: str, service: str, state_credentials: object = None) -> Any:
        return client(region)

    lambda_eval_utils.boto_client_for = client_for  # type: ignore[attr-defined]


def guard(store: ObjectStore, page: str) -> None:
    """Lets in the twin's processes and the page, and puts the object store in front of what they ask.

    moto checks no signature and allows every origin: without this, any web page could read the files.
    """
    dispatch = DomainDispatcherApplication.__call__
    origins = {None, page, page.replace(HOST, "localhost")}

    def call(self: DomainDispatcherApplication, environ: dict[str, Any], start_response: Any) -> Any:
        own_host = environ.get("HTTP_HOST", "").partition(":")[0] in (HOST, "localhost")
        if not own_host or environ.get("HTTP_ORIGIN") not in origins:
            start_response("403 Forbidden", [("Content-Length", "0")])
            return [b""]

        def answer(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            # moto's CORS answer names no header that a page may read; the bucket's configuration does.
            return start_response(status, [*headers, ("Access-Control-Expose-Headers", "ETag")], *error)

        return store.serve(lambda *request: dispatch(self, *request), environ, answer)

    DomainDispatcherApplication.__call__ = call  # type: ignore[method-assign]


def keep_executions(store: ExecutionStore) -> None:
    """Tells the store when an execution starts, and EventBridge and the store when it is over."""

    def described(execution: RunningExecution) -> Execution:
        return Execution(execution.state_machine_arn, execution.name, execution.execution_input)

    start, terminated = RunningExecution.start, BaseExecutionWorkerCommunication.terminated

    def start_remembered(self: RunningExecution) -> None:
        store.started(described(self))
        start(self)

    def terminated_forgotten(self: BaseExecutionWorkerCommunication) -> None:
        terminated(self)
        _tell_of_end(self.execution)
        store.ended(described(self.execution))

    RunningExecution.start = start_remembered  # type: ignore[method-assign]
    BaseExecutionWorkerCommunication.terminated = terminated_forgotten  # type: ignore[method-assign]


def _tell_of_end(execution: RunningExecution) -> None:
    """https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html"""
    detail = {
        "executionArn": execution.exec_arn,
        "stateMachineArn": execution.state_machine_arn,
        "name": execution.name,
        "status": execution.exec_status,
        "input": execution.execution_input,
    }
    event = {"Source": "aws.states", "DetailType": _EXECUTION_CHANGED, "Detail": json.dumps(detail)}
    events_backends[ACCOUNT_ID][REGION].put_events([event])


def main() -> None:
    """Starts moto on a free port and waits for the end of the parent."""
    state, invoke_url, page = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    default_user_config["lambda"] = {"use_docker": False}
    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    # Headers and body leave in two writes: with Nagle's algorithm each answer would wait 40 ms for an acknowledgement.
    MotoRequestHandler.disable_nagle_algorithm = True
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no line per request
    # CloudFormation would create state machines in the back end that has no interpreter.
    models.stepfunctions_backends = stepfunctions_parser_backends  # type: ignore[assignment]
    route_invocations(invoke_url)
    guard(ObjectStore(state / "objects"), page)
    keep_executions(ExecutionStore(state / "executions"))
    keep_clients()
    server = ThreadedMotoServer(HOST, 0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    os.environ["MOTO_PORT"] = str(port)  # where the interpreter finds the other services
    print(f"http://{HOST}:{port}", flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # interpreter threads may be in mid-task; nothing of theirs is worth waiting for


if __name__ == "__main__":
    main()
