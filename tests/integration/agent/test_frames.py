"""What the socket makes of a frame: whatever is wrong with it, its client is told, so that it asks no more."""

import json

import pytest

from tests.integration.agent.harness import Harness
from tests.integration.agent.test_run import assert_well_formed
from tests.integration.knowledge.library import new_file
from werkbank.agent.frames import MOST_MISSED
from werkbank.database.connection import Database
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.runs import Run, RunRef
from werkbank.domain.time import utc_now


def say(harness: Harness, principal: Principal, **frame: object) -> list[dict[str, object]]:
    """Send a frame; return what comes back to the connection."""
    return [json.loads(answer) for answer in harness.frames.handle(principal, json.dumps(frame))]


def problem(answers: list[dict[str, object]]) -> dict[str, object]:
    """Return the one problem that was answered."""
    (answer,) = answers
    assert (answer["type"], answer["seq"]) == ("error", 0)
    data = answer["data"]
    assert isinstance(data, dict)
    return data


@pytest.fixture
def harness(database: Database) -> Harness:
    return Harness(database, [["Here I am."]])


@pytest.mark.parametrize(
    "config",
    [
        {"maxCostCHF": "100000000"}, {"maxCostCHF": "1e30"}, {"maxCostCHF": "NaN"}, {"maxCostCHF": -1},
        {"maxRounds": 101}, {"maxMinutes": 10**9}, {"temperature": 1e300}, {"model": "m" * 201},
        {"toolSet": "t" * 65}, {"initialToolboxes": ["web"] * 51}, {"initialToolboxes": ["t" * 65]},
    ],
)  # fmt: skip
def test_config_out_of_bounds_is_refused_by_name(
    harness: Harness, principal: Principal, config: dict[str, object]
) -> None:
    # AG-03
    run_id = new_id()
    answers = say(harness, principal, action="run", runId=run_id, prompt="Hi", config=config)
    (field,) = config
    assert str(problem(answers)["detail"]).startswith(f"This message was not understood: run.config.{field}")
    assert answers[0]["runId"] == run_id
    assert harness.loop.started == []


@pytest.mark.parametrize("cap", ["0", "99999999", "1e-400", "0.0000001"])
def test_any_cap_within_bounds_can_be_stored(harness: Harness, principal: Principal, cap: str) -> None:
    # AG-06
    run_id = new_id()
    assert say(harness, principal, action="run", runId=run_id, prompt="Hi", config={"maxCostCHF": cap}) == []
    ref = RunRef(run_id=run_id, mandate_id=principal.mandate_id, user_id=principal.user_id)
    harness.drive(ref)
    assert_well_formed(harness.events(ref))


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000, "[" * 5_000 + "]" * 5_000, '{"action":"run","prompt":' + "[" * 60_000,
        '{"action":"run","prompt":"x","config":' + '{"a":' * 5_000 + "1" + "}" * 5_000 + "}",
        '{"action":"resume","runId":"x","afterSeq":1' + "0" * 5_000 + "}",
        '{"action":"resume","runId":"x","afterSeq":1e99}', "", "null", '{"action":"fly"}',
    ],
)  # fmt: skip
def test_what_is_no_frame_is_answered_as_one(harness: Harness, principal: Principal, body: str) -> None:
    (answer,) = harness.frames.handle(principal, body)
    assert json.loads(answer)["data"]["status"] == 422


def test_a_fault_of_our_own_is_told_without_its_words(harness: Harness, principal: Principal) -> None:
    harness.loop.fault = RuntimeError("secret")
    run_id = new_id()
    answers = say(harness, principal, action="run", runId=run_id, prompt="Hi")
    assert problem(answers)["status"] == 500
    assert answers[0]["runId"] == run_id
    assert "secret" not in json.dumps(answers)


@pytest.mark.parametrize(
    ("fields", "status", "word"),
    [
        ({"dataSourceIds": ["crm"]}, 404, "crm"),
        ({"config": {"toolSet": "everything"}}, 422, "There is: core."),
        ({"config": {"initialToolboxes": ["web", "jira"]}}, 422, "There are: core, web."),
    ],
)
def test_what_does_not_exist_is_refused_and_not_left_out(
    harness: Harness, principal: Principal, fields: dict[str, object], status: int, word: str
) -> None:
    # AG-01, AG-03
    refused = problem(say(harness, principal, action="run", prompt="Hi", **fields))
    assert refused["status"] == status
    assert word in str(refused["detail"])
    assert harness.loop.started == []


def test_what_changes_nothing_is_let_through(harness: Harness, principal: Principal) -> None:
    # there are no action tools yet that could be excluded
    config = {"toolSet": "core", "initialToolboxes": ["core", "web"], "excludeActionTools": True}
    assert say(harness, principal, action="run", prompt="Hi", config=config) == []


@pytest.fixture
def index_run(database: Database, principal: Principal) -> str:
    """The id of a run that indexes a file."""
    file = new_file(principal)
    run_id = new_id()
    with database.session(principal) as session:
        session.files.add(file)
        session.runs.add(
            Run(
                id=run_id, mandate_id=principal.mandate_id, user_id=principal.user_id, kind="index", file_id=file.id,
                started_at=utc_now(),
            )
        )  # fmt: skip
        session.events.append(run_id, "indexProgress", {"progress": 0})
    return run_id


def test_indexing_is_no_question(harness: Harness, database: Database, principal: Principal, index_run: str) -> None:
    for frame in ({"action": "stop", "runId": index_run}, {"action": "run", "runId": index_run, "prompt": "Hi"}):
        assert problem(say(harness, principal, **frame))["status"] == 409
    (told,) = say(harness, principal, action="resume", runId=index_run)
    assert told["type"] == "indexProgress"
    with database.session(principal) as session:
        assert session.runs.get(index_run).status == "running"
    assert (harness.loop.started, harness.loop.stopped) == ([], [])


def test_stop_ends_the_run_and_its_execution(harness: Harness, principal: Principal) -> None:
    # AG-20
    ref = harness.start(principal)
    assert say(harness, principal, action="stop", runId=ref.run_id) == []
    assert harness.events(ref)[-1].type == "stopped"
    assert harness.loop.stopped == [ref.run_id]


def test_who_missed_much_gets_it_in_parts(harness: Harness, database: Database, principal: Principal) -> None:
    # EV-02: every part is sent in time, and says whether it is the last
    ref = harness.start(principal)
    last = 2 * MOST_MISSED + 7
    with database.session(principal) as session:
        for seq in range(2, last + 1):
            session.events.append(ref.run_id, "chunk", {"round": 1, "attempt": 1, "text": str(seq)})
    seqs, parts, after = [], 0, 0
    while True:
        answers = say(harness, principal, action="resume", runId=ref.run_id, afterSeq=after)
        more = [answer for answer in answers if answer["type"] == "more"]
        seqs += [answer["seq"] for answer in answers if answer["type"] != "more"]
        parts += 1
        if not more:
            break
        assert more == [answers[-1]]
        assert more[0]["seq"] == 0
        data = more[0]["data"]
        assert isinstance(data, dict)
        assert (data["afterSeq"], data["lastSeq"]) == (seqs[-1], last)
        after = data["afterSeq"]
    assert seqs == list(range(1, last + 1))
    assert parts == 3


def test_part_that_is_just_full_is_the_last(harness: Harness, database: Database, principal: Principal) -> None:
    ref = harness.start(principal)
    with database.session(principal) as session:
        for _ in range(MOST_MISSED - 1):
            session.events.append(ref.run_id, "chunk", {"round": 1, "attempt": 1, "text": "x"})
    answers = say(harness, principal, action="resume", runId=ref.run_id)
    assert len(answers) == MOST_MISSED
    assert answers[-1]["seq"] == MOST_MISSED
