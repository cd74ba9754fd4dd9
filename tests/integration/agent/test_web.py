"""The web toolbox: open unless its user does without, cited by address (TB-02, WS-01, WS-04, WS-06, WS-07)."""

from tests.integration.agent.harness import Harness
from werkbank.database.connection import Database
from werkbank.domain.ids import new_id
from werkbank.domain.marking import as_data
from werkbank.domain.messages import ToolCall
from werkbank.domain.preferences import Preferences
from werkbank.domain.principal import Principal
from werkbank.tools.web import UNKNOWN_ADDRESS
from werkbank.websearch.gate import PageNumbers
from werkbank.websearch.lookup import NO_CURRENT_DATA
from werkbank.websearch.model import WebResult

WEB = {"initialToolboxes": ["web"]}
PAGE = WebResult(url="https://www.bern.example/rat", title="Der Rat", text="The mayor of Bern is Anna Muster.")


def search(query: str) -> ToolCall:
    return ToolCall(id="s", name="webSearch", arguments=f'{{"query": "{query}"}}')


def choose(database: Database, principal: Principal, own: bool | None) -> None:
    """Set a person's own preference."""
    with database.session(principal) as session:
        session.preferences.choose(Preferences(web_search_enabled=own))


def test_web_is_open_from_the_start_where_something_can_search(database: Database, principal: Principal) -> None:
    # WS-07
    searching = Harness(database, [["yes"]], pages=())
    searching.ask(principal)
    keyless = Harness(database, [["no"]])
    keyless.ask(principal)
    offered = [{tool.name for tool in harness.model.requests[0].tools} for harness in (searching, keyless)]
    assert {"webSearch", "readUrl"} <= offered[0]
    assert {"webSearch", "readUrl"}.isdisjoint(offered[1])


def test_tool_of_an_inactive_toolbox_says_whose_it_is(database: Database, principal: Principal) -> None:
    # TB-02, TB-03
    read = ToolCall(id="r", name="readUrl", arguments=f'{{"url": "{PAGE.url}"}}')
    harness = Harness(database, [[read], ["done"]])
    ref = harness.ask(principal)
    (result,) = (event for event in harness.events(ref) if event.type == "toolResult")
    assert not result.data["success"]
    assert "belongs to the toolbox web" in str(result.data["summary"])


def test_address_that_nobody_named_is_not_opened(database: Database, principal: Principal) -> None:
    # what a file says must not be able to send anything out
    reads = [
        ToolCall(id=f"r{n}", name="readUrl", arguments=f'{{"url": "{url}"}}')
        for n, url in enumerate((f"{PAGE.url}?secret=1", "http://127.0.0.1/rat", PAGE.url))
    ]
    harness = Harness(database, [[search("mayor of Bern")], reads, ["done"]], pages=(PAGE,))
    ref = harness.ask(principal, "Who governs? http://127.0.0.1/rat knows.")
    told = [str(event.data["summary"]) for event in harness.events(ref) if event.type == "toolResult"]
    assert told[1] == UNKNOWN_ADDRESS
    assert all(said != UNKNOWN_ADDRESS for said in told[2:]), "the user's, and the search's"


def test_answer_cites_the_pages_address(database: Database, principal: Principal) -> None:
    # WS-06: structured, so that the page can link it
    harness = Harness(database, [[search("mayor of Bern")], ["Anna Muster [1]."]], pages=(PAGE,))
    ref = harness.ask(principal, config=WEB)
    told = harness.model.requests[1].messages[-1].content
    assert "outranks" in told
    assert "[1] Der Rat – https://www.bern.example/rat" in told
    (event,) = (event for event in harness.events(ref) if event.type == "citations")
    assert isinstance(event.data["citations"], list)
    (citation,) = event.data["citations"]
    assert isinstance(citation, dict)
    assert (citation["url"], citation["fileId"], citation["fileName"]) == (PAGE.url, None, "Der Rat")


def test_page_seen_twice_has_one_number(database: Database, principal: Principal) -> None:
    harness = Harness(database, [])
    ref = harness.start(principal)
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
    number = PageNumbers(database)
    assert [*number(run, [PAGE]), *number(run, [PAGE])] == [1, 1]


def test_search_that_finds_nothing_says_so(database: Database, principal: Principal) -> None:
    # WS-04
    harness = Harness(database, [[search("mayor of Bern")], ["I have no current data."]], pages=())
    harness.ask(principal, config=WEB)
    assert harness.model.requests[1].messages[-1].content == as_data("webSearch", NO_CURRENT_DATA)


def test_sensitive_question_is_searched_before_the_model_is_asked(database: Database, principal: Principal) -> None:
    # WS-03: told as context, which models without tools read as well
    harness = Harness(database, [["Anna Muster [1]."]], pages=(PAGE,))
    ref = harness.ask(principal, "Who is the mayor of Bern?", config=WEB)
    told = harness.model.requests[0].messages[-1].content
    assert ' from="web search">' in told
    assert "Anna Muster" in told
    assert [event.type for event in harness.events(ref)].count("citations") == 1


def test_who_does_without_the_web_is_never_searched_for(database: Database, principal: Principal) -> None:
    # WS-07: no tool, no forced search, no filler, and no way to ask for it
    choose(database, principal, own=False)
    want = ToolCall(id="w", name="requestToolbox", arguments='{"toolboxId": "web", "reason": "It is asked."}')
    harness = Harness(database, [[search("mayor of Bern"), want], ["I do not know."]], pages=(PAGE,))
    ref = harness.ask(principal, "Who is the mayor of Bern?", config=WEB)
    first, second = harness.model.requests
    assert {"webSearch", "readUrl", "requestToolbox"}.isdisjoint(tool.name for tool in first.tools)
    assert ' from="web search">' not in first.messages[-1].content
    refusals = [message.content for message in second.messages[-2:]]
    assert all("switched off in the settings" in refusal for refusal in refusals)
    assert [event.type for event in harness.events(ref)].count("confirmation") == 0
    assert harness.pushed.of_type("filler") == []


def test_run_keeps_what_held_when_it_began(database: Database, principal: Principal) -> None:
    # WS-07
    harness = Harness(database, [["one"], ["two"]], pages=(PAGE,))
    began = harness.start(principal)
    choose(database, principal, own=False)
    harness.drive(began)
    harness.ask(principal)
    offered = [{tool.name for tool in request.tools} for request in harness.model.requests]
    assert ["webSearch" in names for names in offered] == [True, False]


def test_follow_up_is_made_to_stand_alone_before_it_is_searched(database: Database, principal: Principal) -> None:
    # WS-02
    workflow_id = new_id()
    script = [["Anna Muster [1]."], ["Where does Anna Muster, mayor of Bern, live?"], ["In Bern [1]."]]
    harness = Harness(database, script, pages=(PAGE,))
    harness.ask(principal, "Who is the mayor of Bern?", workflowId=workflow_id, config=WEB)
    ref = harness.ask(principal, "And where does she live?", workflowId=workflow_id, config=WEB)
    assert harness.events(ref)[-1].data["status"] == "completed"
    rewriting, answering = harness.model.requests[1:]
    assert "Who is the mayor of Bern?" in rewriting.messages[-1].content
    assert ' from="web search">' in answering.messages[-1].content


def test_toolbox_is_granted_by_the_user_and_offered_in_the_next_round(database: Database, principal: Principal) -> None:
    # TB-03, AG-24
    arguments = '{"toolboxId": "web", "reason": "The files do not say who is mayor."}'
    want = ToolCall(id="w", name="requestToolbox", arguments=arguments)
    harness = Harness(database, [[want], ["Thank you."]])
    ref = harness.start(principal)
    step = harness.rounds.run(ref, 1, 30)
    assert step.confirm == {"w"}
    harness.tools.ask_consent(ref, 1, "w", "token")
    with database.session(principal) as session:
        assert session.tool_calls.decide(ref.run_id, 1, "w", approved=True)
    harness.run_tools(ref, step)
    harness.drive(ref)
    first, second = ({tool.name for tool in request.tools} for request in harness.model.requests)
    assert "requestToolbox" in first
    assert "readUrl" not in first
    assert "readUrl" in second
    assert "requestToolbox" not in second, "nothing is left to ask for"


def test_only_inactive_toolboxes_may_be_asked_for(database: Database, principal: Principal) -> None:
    harness = Harness(database, [["done"]])
    harness.ask(principal)
    (asking,) = (tool for tool in harness.model.requests[0].tools if tool.name == "requestToolbox")
    assert "'web'" in str(asking.parameters)
    assert "core" not in str(asking.parameters)
