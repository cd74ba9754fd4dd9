"""State machines of the template run in moto's interpreter and call the twin's functions."""  # DP-02, AG-05

import json
import uuid
from typing import Any

import pytest

from infra.local.stack import LocalStack


def _run(twin: LocalStack, batches: list[list[str]]) -> dict[str, Any]:
    client = twin.client("stepfunctions")
    machine = client.list_state_machines()["stateMachines"][0]["stateMachineArn"]
    started = client.start_execution(
        stateMachineArn=machine, name=str(uuid.uuid4()), input=json.dumps({"batches": batches})
    )
    while True:
        found: dict[str, Any] = client.describe_execution(executionArn=started["executionArn"])
        if found["status"] != "RUNNING":
            return found


def test_batches_follow_each_other_and_their_calls_run_together(twin: LocalStack) -> None:
    result = _run(twin, [["a", "b"], ["c"], ["d", "e"]])
    assert result["status"] == "SUCCEEDED"
    first, second, third = json.loads(result["output"])
    assert [call["item"] for batch in (first, second, third) for call in batch] == list("abcde")
    assert first[0]["pid"] != first[1]["pid"]  # at once, so in two processes
    assert max(call["at"] for call in first) < second[0]["at"] < min(call["at"] for call in third)


def test_errors_are_matched_by_their_class_name(twin: LocalStack) -> None:
    result = _run(twin, [["a"], ["fail"]])
    failure = json.loads(result["output"])["failure"]
    assert failure["Error"] == "TerminalError"
    assert json.loads(failure["Cause"])["errorMessage"] == "no way"


def test_an_execution_name_starts_once(twin: LocalStack) -> None:
    client = twin.client("stepfunctions")
    machine = client.list_state_machines()["stateMachines"][0]["stateMachineArn"]
    request = {"stateMachineArn": machine, "name": "once", "input": json.dumps({"batches": [["a"], ["b"]]})}
    first, second = client.start_execution(**request), client.start_execution(**request)
    assert first["executionArn"] == second["executionArn"]
    while client.describe_execution(executionArn=first["executionArn"])["status"] == "RUNNING":
        pass
    with pytest.raises(client.exceptions.ExecutionAlreadyExists):  # as on AWS, once it is over
        client.start_execution(**request)
