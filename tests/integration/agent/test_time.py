"""What models are told of the time: always, in their user's zone, and as it goes on (AG-15)."""

from itertools import pairwise

from tests.integration.agent.harness import LIST_CALL, Harness
from tests.integration.agent.test_summaries import look
from tests.integration.agent.test_web import PAGE, WEB
from tests.integration.conftest import new_member
from tests.scripted_model import Piece
from werkbank.ai.protocols import ChatRequest
from werkbank.database.connection import Database
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal

TOLD = "Current date and time of the user: "


def times(request: ChatRequest) -> list[str]:
    """What a request tells of the time, line by line, but for its system prompt."""
    lines = "\n".join(message.content for message in request.messages[1:]).splitlines()
    return [line for line in lines if line.startswith(TOLD)]


def test_every_model_call_is_told_the_time(database: Database) -> None:
    # rounds, and what is asked beside them: a follow-up's meaning, facts, a summary, the closing text
    member = new_member(database).model_copy(update={"zone": "Asia/Tokyo"})
    workflow_id = new_id()
    no_facts: list[Piece] = ["[]"]
    script: list[list[Piece]] = [
        ["Anna Muster [1]."], ["Where does Anna Muster, mayor of Bern, live?"], look(1), look(2), no_facts, look(3),
        no_facts, ["- nothing"], look(4), no_facts, ["As far as I got."], no_facts,
    ]  # fmt: skip
    harness = Harness(database, script, pages=(PAGE,))
    harness.ask(member, "Who is the mayor of Bern?", workflowId=workflow_id, config=WEB)
    config = {**WEB, "entityCacheEnabled": True, "maxRounds": 4}
    ref = harness.ask(member, "And where does she live?", workflowId=workflow_id, config=config)
    assert harness.events(ref)[-1].data["status"] == "maxRoundsReached"
    assert len(harness.model.requests) == len(script)
    for request in harness.model.requests:
        assert times(request)
        assert "(Asia/Tokyo, UTC+0900)" in times(request)[-1]


def test_cheap_closing_extract_is_told_the_time(database: Database, principal: Principal) -> None:
    harness = Harness(database, [[LIST_CALL], ["In short."]])
    harness.model.usage = harness.model.usage.model_copy(update={"input_tokens": 17_000, "output_tokens": 2_150})
    harness.ask(principal, config={"maxCostCHF": "0.1"})
    extract = harness.model.requests[-1]
    assert len(extract.messages) == 2
    assert len(times(extract)) == 1


def test_run_that_waited_for_days_is_told_what_day_it_is_now(database: Database, principal: Principal) -> None:
    # behind the results that came in last; the cached prefix stays
    harness = Harness(database, [[LIST_CALL], look(2), look(3), ["Done."]])
    ref = harness.start(principal)
    for round in (1, 2, 3):
        harness.run_tools(ref, harness.rounds.run(ref, round, 30))
        if round == 1:
            with database.session(principal) as session:
                session.connection.execute("UPDATE run SET started_at = now() - interval '9 days'")
    first, second, third = (request.messages for request in harness.model.requests)
    assert [len(times(request)) for request in harness.model.requests] == [1, 2, 2]
    assert TOLD in second[-1].content.splitlines()[-1]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise((first, second, third)))
