"""The agent's pure parts: verdicts, failures in words, citations, the question's context."""

import datetime
import json
from decimal import Decimal

import pytest

from werkbank.agent.budget import judge
from werkbank.agent.citing import cited
from werkbank.agent.failure import ending_of
from werkbank.agent.prompt import SYSTEM_PROMPT, question_context, system_prompt
from werkbank.domain.failure import parse_failure, state_of
from werkbank.domain.runs import AgentConfig, Citation, Run, RunRef
from werkbank.domain.time import describe_moment, utc_now, valid_zone

MOMENT = datetime.datetime(2026, 7, 1, 22, 30, tzinfo=datetime.UTC)


def a_run(**fields: object) -> Run:
    values = {
        "id": "r",
        "mandate_id": "m",
        "user_id": "u",
        "workflow_id": "w",
        "kind": "agent",
        "started_at": utc_now(),
    }
    return Run.model_validate(values | fields)


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        (a_run(), ("round", "running")),
        (a_run(status="stopped"), ("finish", "stopped")),
        (a_run(rounds=25), ("finish", "maxRoundsReached")),
        (a_run(config=AgentConfig(max_cost_chf=Decimal(1)), spent_chf=Decimal(1)), ("finish", "budgetExceeded")),
        (a_run(config=AgentConfig(max_cost_chf=Decimal(1)), spent_chf=Decimal("0.99")), ("round", "running")),
        (
            a_run(rounds=25, config=AgentConfig(max_cost_chf=Decimal(1)), spent_chf=Decimal(2)),
            ("finish", "budgetExceeded"),
        ),
    ],
)
def test_verdict(run: Run, verdict: tuple[str, str]) -> None:
    # AG-04: cancel, then money, then rounds
    judged = judge(run)
    assert (judged.next, judged.status) == verdict


@pytest.mark.parametrize("rounds", [0, 101, -1])
def test_rounds_are_limited(rounds: int) -> None:
    # AG-03
    with pytest.raises(ValueError, match="maxRounds"):
        AgentConfig.model_validate({"maxRounds": rounds})


def test_our_errors_are_told_and_others_are_not() -> None:
    cause = json.dumps(
        {"errorMessage": "Add a key under settings.", "errorType": "ProviderRefused", "stackTrace": ["x"]}
    )
    ours = ending_of(parse_failure({"Error": "ProviderRefused", "Cause": cause}))
    assert (ours.detail, ours.retryable) == ("Add a key under settings.", False)
    secret = json.dumps({"errorMessage": "password=hunter2", "errorType": "OperationalError"})
    other = ending_of(parse_failure({"Error": "OperationalError", "Cause": secret}))
    assert "hunter2" not in other.detail
    assert other.retryable


@pytest.mark.parametrize(
    "data", [None, "text", {}, {"Error": "States.Timeout"}, {"Error": "WerkbankError", "Cause": "{"}]
)
def test_any_failure_gives_an_ending(data: object) -> None:
    ending = ending_of(parse_failure(data))
    assert ending.status == "error"
    assert ending.detail


def test_only_known_numbers_are_cited() -> None:
    sources = [
        Citation(number=n, chunk_id=str(n), file_id="f", file_name="f", place="f", quote="q", ref={}) for n in (1, 2, 3)
    ]
    assert [source.number for source in cited("As [3] and [1] say, unlike [9].", sources)] == [1, 3]


def test_time_is_told_in_the_users_zone_outside_the_cached_prompt() -> None:
    # AG-15
    assert "2026-07-02 00:30" in question_context(MOMENT, "Europe/Zurich", "")
    assert system_prompt(()) == SYSTEM_PROMPT
    assert "2026" not in SYSTEM_PROMPT


@pytest.mark.parametrize("zone", [None, "", "Mars/Olympus", "../etc/passwd", "Europe", "\0"])
def test_invalid_zone_means_utc(zone: str | None) -> None:
    # AG-15: never the server's own zone
    assert valid_zone(zone) == "UTC"
    assert "UTC" in describe_moment(MOMENT, zone or "")


def test_execution_that_passed_no_catch_is_finished_from_its_input() -> None:
    # AG-19: the last event comes even when the whole execution timed out
    told = {"input": '{"runId": "r", "mandateId": "m", "userId": "u"}', "status": "TIMED_OUT", "name": "r"}
    state = state_of({"source": "aws.states", "detail": {**told}})
    assert RunRef.model_validate(state) == RunRef(run_id="r", mandate_id="m", user_id="u")
    assert ending_of(parse_failure(state["failure"])).status == "timedOut"
    assert state_of({"runId": "r"}) == {"runId": "r"}
