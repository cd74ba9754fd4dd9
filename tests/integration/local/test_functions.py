"""Functions end as they end on AWS, and the next invocation gets a new process."""  # DP-02, AG-23

import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from infra.local.functions import PROCESSES_PER_FUNCTION
from infra.local.stack import FunctionError, LocalStack


def _fails(twin: LocalStack, fault: str) -> dict[str, Any]:
    with pytest.raises(FunctionError) as failed:
        twin.invoke("faulty", {"fault": fault})
    return failed.value.document


def test_a_process_is_used_again(twin: LocalStack) -> None:
    first = twin.invoke("faulty", {"fault": "none"})
    second = twin.invoke("faulty", {"fault": "none"})
    assert first["pid"] == second["pid"]
    assert twin.function_pids("faulty") == twin.function_pids("FaultyFunction") == [first["pid"]]
    assert 0 < first["remaining"] <= 2000
    assert first["arn"].endswith(":function:werkbank-FaultyFunction")


def test_the_timeout_of_the_template_is_enforced(twin: LocalStack) -> None:
    before = twin.invoke("faulty", {"fault": "none"})["pid"]
    error = _fails(twin, "sleep")
    assert error["errorType"] == "Sandbox.Timedout"
    assert "timed out after 2.00 seconds" in error["errorMessage"]
    assert twin.invoke("faulty", {"fault": "none"})["pid"] != before


def test_a_dying_process_is_an_error_for_the_caller(twin: LocalStack) -> None:
    assert _fails(twin, "exit")["errorType"] == "Runtime.ExitError"
    assert twin.invoke("faulty", {"fault": "none"})["pid"]


def test_kill_9_in_mid_invocation_is_an_error_at_once(twin: LocalStack) -> None:
    pid = twin.invoke("faulty", {"fault": "none"})["pid"]
    failures: list[dict[str, Any]] = []
    call = threading.Thread(target=lambda: failures.append(_fails(twin, "sleep")))
    call.start()
    time.sleep(
        0.3
    )  # the invocation is under way; were it not yet, the kill would hit an idle process and fail the test
    os.kill(pid, signal.SIGKILL)
    call.join(20)
    assert failures[0]["errorType"] == "Runtime.ExitError"
    assert "SIGKILL" in failures[0]["errorMessage"]


def test_the_memory_of_the_template_is_enforced(twin: LocalStack) -> None:
    assert _fails(twin, "memory")["errorType"] == "Runtime.OutOfMemory"


def test_an_exception_keeps_its_class_name(twin: LocalStack) -> None:
    error = _fails(twin, "raise")
    assert (error["errorType"], error["errorMessage"]) == ("ValueError", "wrong")


def test_payloads_are_limited(twin: LocalStack) -> None:
    assert _fails(twin, "size")["errorType"] == "Function.ResponseSizeTooLarge"


def test_the_sdk_reaches_the_same_functions(twin: LocalStack) -> None:
    client = twin.client("lambda")
    answer = client.invoke(FunctionName="werkbank-FaultyFunction", Payload=json.dumps({"fault": "raise"}))
    assert answer["FunctionError"] == "Unhandled"
    assert json.load(answer["Payload"])["errorType"] == "ValueError"
    assert (
        client.invoke(FunctionName="werkbank-StepFunction", InvocationType="Event", Payload=b"1")["StatusCode"] == 202
    )
    with pytest.raises(ClientError):
        client.invoke(FunctionName="werkbank-NoFunction", Payload=b"{}")


def test_more_calls_than_processes_wait_their_turn_even_behind_dying_ones(twin: LocalStack) -> None:
    with ThreadPoolExecutor(PROCESSES_PER_FUNCTION + 2) as pool:
        errors = list(pool.map(lambda _: _fails(twin, "sleep"), range(PROCESSES_PER_FUNCTION + 2)))
    assert {error["errorType"] for error in errors} == {"Sandbox.Timedout"}


def test_a_slow_function_delays_no_other_call(twin: LocalStack) -> None:
    calls = [threading.Thread(target=_fails, args=(twin, "sleep")) for _ in range(3)]
    for call in calls:
        call.start()
    assert twin.client("sqs").list_queues()["QueueUrls"]
    assert all(call.is_alive() for call in calls)  # they still sleep, the queues were listed meanwhile
    for call in calls:
        call.join(30)
