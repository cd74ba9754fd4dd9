"""The definitions themselves, run by moto's interpreter against functions that answer by script."""  # AG-23

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
import yaml
from moto import mock_aws
from moto.awslambda_simple.models import LambdaSimpleBackend

from tests.template.deployment import state_machines

REGION = "eu-central-1"
FUNCTION_ARN = f"arn:aws:lambda:{REGION}:123456789012:function:"
IDS = {"runId": "r", "mandateId": "m", "userId": "u"}
Event = dict[str, Any]
Answer = Callable[[Event], Event]


class FunctionError(Exception):
    """The function raises an error whose class has this name."""


class Functions:
    """Stands in for Lambda: answers by function name, and remembers every call in order."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.calls: list[tuple[str, Event]] = []

    def invoke(self, name: str, event: Event) -> Event:
        self.calls.append((name, event))
        answer = self.answers.get(name)
        return answer(event) if answer else {}

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def events(self, name: str) -> list[Event]:
        return [event for called, event in self.calls if called == name]


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Iterator[Functions]:
    scripted = Functions()

    def invoke(_: object, arn: str, __: object, body: str, ___: object, headers: dict[str, str]) -> bytes:
        try:
            return json.dumps(scripted.invoke(arn.removeprefix(FUNCTION_ARN), json.loads(body))).encode()
        except FunctionError as error:
            headers["x-amz-function-error"] = "Unhandled"
            return json.dumps({"errorType": str(error), "errorMessage": "as scripted"}).encode()

    monkeypatch.setattr(LambdaSimpleBackend, "invoke", invoke)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    with mock_aws(config={"lambda": {"use_docker": False}, "stepfunctions": {"execute_state_machine": True}}):
        yield scripted


def run(machine: str, state: Event) -> str:
    """Run a state machine to its end and return the execution's status."""
    text = state_machines()[machine].text
    for placeholder in state_machines()[machine].placeholders():
        text = text.replace(f"${{{placeholder}}}", FUNCTION_ARN + placeholder.removesuffix("Arn"))
    client = boto3.client("stepfunctions", region_name=REGION)
    arn = client.create_state_machine(
        name=machine, definition=json.dumps(yaml.safe_load(text)), roleArn="arn:aws:iam::123456789012:role/any"
    )["stateMachineArn"]
    execution = client.start_execution(stateMachineArn=arn, input=json.dumps(state))["executionArn"]
    while (status := client.describe_execution(executionArn=execution)["status"]) == "RUNNING":
        time.sleep(0.01)
    return status


def script(*answers: Event | str) -> Answer:
    """Answers one after the other; a string is the error to raise."""
    left = iter(answers)

    def answer(_: Event) -> Event:
        match next(left):
            case str(name):
                raise FunctionError(name)
            case result:
                return result

    return answer


def call(number: int) -> Event:
    return {**IDS, "round": 1, "callId": str(number)}


def budget(number: int) -> Event:
    return {**IDS, "round": number, "next": "round"}


FINISH = {**IDS, "round": 2, "next": "finish", "batches": []}


def test_a_round_with_tools_then_an_answer(functions: Functions) -> None:
    # AG-05: batches in order, and a batch starts when the one before is through.
    functions.answers["CheckBudget"] = script(budget(1), budget(2))
    tools = {**IDS, "round": 1, "next": "tools", "batches": [[call(1), call(2)], [call(3)]]}
    functions.answers["AgentRound"] = script(tools, FINISH)
    assert run("AgentRun", IDS) == "SUCCEEDED"
    rounds = ["CheckBudget", "AgentRound", "ExecuteTool", "ExecuteTool", "ExecuteTool", "CheckBudget", "AgentRound"]
    assert functions.names() == [*rounds, "FinishRun"]
    executed = functions.events("ExecuteTool")
    assert {event["callId"] for event in executed[:2]} == {"1", "2"}
    assert executed[2] == call(3)


def test_state_does_not_grow_with_rounds(functions: Functions) -> None:
    functions.answers["CheckBudget"] = lambda event: budget(event.get("round", 0) + 1)
    functions.answers["ExecuteTool"] = lambda _: {"result": "x" * 10_000}

    def answer(event: Event) -> Event:
        return {**event, "next": "tools" if event["round"] < 10 else "finish", "batches": [[call(1)]]}

    functions.answers["AgentRound"] = answer
    assert run("AgentRun", IDS) == "SUCCEEDED"
    sizes = {len(json.dumps(event)) for event in functions.events("CheckBudget")[1:]}
    assert max(sizes) < 300
    assert len(sizes) == 1


def test_no_money_ends_the_run_before_a_round(functions: Functions) -> None:
    # AG-06
    answer = {**IDS, "round": 1, "next": "finish", "status": "budgetExceeded"}
    functions.answers["CheckBudget"] = script(answer)
    assert run("AgentRun", IDS) == "SUCCEEDED"
    assert functions.calls == [("CheckBudget", IDS), ("FinishRun", answer)]


def test_a_round_out_of_time_hands_itself_over(functions: Functions) -> None:
    functions.answers["CheckBudget"] = script(budget(1))
    functions.answers["AgentRound"] = script({**IDS, "round": 1, "next": "round", "batches": []}, FINISH)
    run("AgentRun", IDS)
    assert functions.names() == ["CheckBudget", "AgentRound", "AgentRound", "FinishRun"]


def test_a_killed_function_is_asked_again(functions: Functions) -> None:
    functions.answers["CheckBudget"] = script(budget(1))
    functions.answers["AgentRound"] = script("Runtime.ExitError", FINISH)
    run("AgentRun", IDS)
    assert functions.names() == ["CheckBudget", "AgentRound", "AgentRound", "FinishRun"]
    assert "failure" not in functions.calls[-1][1]


@pytest.mark.parametrize("failing", ["CheckBudget", "AgentRound", "ExecuteTool"])
def test_a_terminal_error_goes_to_finish_at_once(functions: Functions, failing: str) -> None:
    functions.answers["CheckBudget"] = script(budget(1))
    functions.answers["AgentRound"] = script({**IDS, "round": 1, "next": "tools", "batches": [[call(1)]]})
    functions.answers[failing] = script("ProviderRefused")
    assert run("AgentRun", IDS) == "SUCCEEDED"
    assert functions.names().count(failing) == 1
    name, event = functions.calls[-1]
    assert name == "FinishRun"
    assert event["runId"] == "r"
    assert event["failure"]["Error"] == "ProviderRefused"
    assert "as scripted" in event["failure"]["Cause"]


def test_finish_is_tried_again_even_after_a_terminal_error(functions: Functions) -> None:
    functions.answers["CheckBudget"] = script({**IDS, "round": 1, "next": "finish"})
    functions.answers["FinishRun"] = script("NotFound", {})
    assert run("AgentRun", IDS) == "SUCCEEDED"
    assert functions.names().count("FinishRun") == 2


def test_a_file_is_indexed_in_three_steps(functions: Functions) -> None:
    # KS-03
    state = {**IDS, "fileId": "f"}
    functions.answers["ExtractContent"] = script({"text": "x" * 10_000})
    assert run("IndexFile", state) == "SUCCEEDED"
    assert functions.calls == [("ExtractContent", state), ("Embed", state), ("StoreIndex", state)]


@pytest.mark.parametrize("failing", ["ExtractContent", "Embed", "StoreIndex"])
def test_a_broken_file_is_recorded_as_failed(functions: Functions, failing: str) -> None:
    state = {**IDS, "fileId": "f"}
    functions.answers[failing] = script("DocumentError", {})
    assert run("IndexFile", state) == "SUCCEEDED"
    name, event = functions.calls[-1]
    assert name == "StoreIndex"
    assert event == {**state, "failure": event["failure"]}
    assert event["failure"]["Error"] == "DocumentError"


@pytest.mark.parametrize("answer", ["token", "decided before", "never"])
def test_call_that_needs_consent_waits_for_it(functions: Functions, answer: str) -> None:
    # AG-24: no function runs while the user thinks; a decision that came first lets it go on at once, none is a no
    call = {**IDS, "round": 1, "callId": "c"}
    wait = 1 if answer == "never" else 600
    functions.answers["CheckBudget"] = script(
        {**IDS, "round": 1, "next": "round"}, {**IDS, "round": 2, "next": "finish"}
    )
    functions.answers["AgentRound"] = script(
        {**IDS, "round": 1, "next": "tools", "batches": [[{**call, "confirm": True, "consentSeconds": wait}]]}
    )

    def execute(event: Event) -> Event:
        if "taskToken" in event and answer == "decided before":
            raise FunctionError("Conflict")
        if "taskToken" in event and answer == "token":
            boto3.client("stepfunctions", region_name=REGION).send_task_success(
                taskToken=event["taskToken"], output="{}"
            )
        return {}

    functions.answers["ExecuteTool"] = execute
    assert run("AgentRun", IDS) == "SUCCEEDED"
    asked, executed = functions.events("ExecuteTool")
    assert {key: asked[key] for key in call} == call
    assert "taskToken" not in executed
