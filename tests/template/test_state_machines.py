"""The state machines against the template and the error tree: what `sam validate` does not look at."""  # AG-23

import inspect
import re

import pytest

from tests.template.deployment import StateMachine, Tree, state_machines, states
from werkbank.domain import errors

# The same call would fail again, or nobody waits for it any more: the families that no retry can help.
TERMINAL = (errors.UserError, errors.DocumentError, errors.TerminalProviderError, errors.RunOver)
# Where an execution goes to say that it is over; nothing is left to catch its own failure.
LAST = {"Finish", "RecordFailure"}

machines = pytest.mark.parametrize("machine", state_machines().values(), ids=state_machines())


def terminal_names() -> set[str]:
    """The class names of every terminal error."""
    return names_of(*TERMINAL)


def names_of(*kinds: type[Exception]) -> set[str]:
    """The class names of errors of these kinds."""
    return {name for name, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, kinds)}


def handled_within(task: str) -> set[str]:
    """The errors that a task's own function has retried before it gives up: there is one retry layer (AG-11)."""
    if task == "AskUser":
        return {"States.Timeout"}  # no answer is an answer
    return names_of(errors.ProviderError) if task == "Round" else set()


def error_names(state: Tree) -> set[str]:
    """What a state's Retry and Catch name."""
    return {name for rule in [*state.get("Retry", []), *state.get("Catch", [])] for name in rule["ErrorEquals"]}


@machines
def test_placeholders_are_the_templates_substitutions(machine: StateMachine) -> None:
    assert machine.placeholders() == set(machine.substitutions)


@machines
def test_substitutions_are_named_after_their_function(machine: StateMachine) -> None:
    for key, value in machine.substitutions.items():
        assert value == {"Fn::GetAtt": [key.removesuffix("Arn") + "Function", "Arn"]}


@machines
def test_error_names_exist(machine: StateMachine) -> None:
    for name, state in states(machine.definition):
        for error in error_names(state):
            known = error.startswith(("States.", "Lambda.")) or hasattr(errors, error)
            assert known, f"{name} names {error}, which nothing raises"


@machines
def test_terminal_errors_are_not_retried_and_all_others_are(machine: StateMachine) -> None:
    for name, task in machine.tasks().items():
        if name in LAST:
            continue
        never, otherwise = task["Retry"]
        assert set(never["ErrorEquals"]) == terminal_names() | handled_within(name), name
        assert never["MaxAttempts"] == 0
        assert otherwise["ErrorEquals"] == ["States.ALL"]
        assert otherwise["JitterStrategy"] == "FULL"


@machines
def test_every_failure_reaches_the_last_state(machine: StateMachine) -> None:
    for name, state in machine.definition["States"].items():
        if state["Type"] not in {"Task", "Map"} or name in LAST:
            continue
        (catch,) = state["Catch"]
        assert catch["ErrorEquals"] == ["States.ALL"]
        assert catch["ResultPath"] == "$.failure"
        assert catch["Next"] in LAST


@machines
def test_a_retry_never_overlaps_a_living_attempt(machine: StateMachine) -> None:
    for name, task in machine.tasks().items():
        if "TimeoutSecondsPath" in task:  # as long as its user is given: then it is over, and not tried again
            assert any("States.Timeout" in rule["ErrorEquals"] and rule["MaxAttempts"] == 0 for rule in task["Retry"])
            continue
        assert task["TimeoutSeconds"] > machine.function(task).timeout_seconds, name


@machines
def test_no_yaml_anchors(machine: StateMachine) -> None:
    # CloudFormation reads the definition with a parser that takes an alias for a string.
    assert not re.search(r"^\s*(?:- )?(?:\S+: )?[&*]\w", machine.text, flags=re.MULTILINE)
