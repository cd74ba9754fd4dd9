"""A call that waits for its user (AG-24). No tool of the core toolbox needs it, so the call is written by hand."""

import threading

import psycopg
import pytest
from playwright.sync_api import Browser, Locator, expect

from infra.local.client import Client
from infra.local.stack import LocalStack
from tests.browser.visitor import Visitor, is_answered, visiting
from tests.scripted_server import Hold
from tests.stack import Script
from werkbank.domain.sessions import WORKSPACE, Session, parse_session


def ask_for_consent(
    stack: LocalStack,
    client: Client,
    run_id: str,
    arguments: str = '{"to": "anna@example.org"}',
    origin: Session = WORKSPACE,
) -> None:
    """Let the running question want to send a mail, as if the run came from this session."""
    me = client.call("GET", "/me")
    ids = {"runId": run_id, "mandateId": me["mandateId"], "userId": me["userId"]}
    assert stack.app
    with psycopg.connect(stack.app.uri()) as connection:
        for name, value in (("mandate_id", me["mandateId"]), ("user_id", me["userId"])):
            connection.execute("SELECT set_config('werkbank.' || %s, %s, false)", (name, value))
        connection.execute(
            "UPDATE run SET session_id = %s, trusted = %s WHERE id = %s", (origin.id, origin.trusted, run_id)
        )
        connection.execute(
            "INSERT INTO tool_call (run_id, round, call_id, position, mandate_id, user_id, name, arguments)"
            " VALUES (%s, 1, 'mail', 0, %s, %s, 'sendMail', %s)",
            (run_id, me["mandateId"], me["userId"], arguments),
        )
    stack.invoke("ExecuteToolFunction", {**ids, "round": 1, "callId": "mail", "taskToken": "nobody waits on it"})


def begin(visitor: Visitor, question: str) -> tuple[Locator, str]:
    """Ask a question whose answer stops behind its first words; returns the answer and its run's id."""
    answer = visitor.ask(question)
    expect(answer.get_by_test_id("answer-text")).to_have_text("I will write to Anna.")
    run_id = visitor.page.locator(".turn", has_text=question).get_attribute("data-run")
    assert run_id
    return answer, run_id


def test_user_is_asked_and_decides(visitor: Visitor, script: Script, stack: LocalStack, client: Client) -> None:
    gate = threading.Event()
    answer, run_id = begin(visitor, script.add(["I will write to Anna. ", Hold(gate), "Done."]))
    ask_for_consent(stack, client, run_id)
    step = answer.get_by_test_id("tool-step")
    expect(step).to_have_attribute("data-status", "waiting")
    expect(answer.get_by_test_id("consent-origin")).to_have_count(0)
    expect(answer.get_by_test_id("consent-untrusted")).to_have_count(0)
    (waiting,) = client.call("GET", "/confirmations")["confirmations"]
    assert (waiting["name"], waiting["runId"]) == ("sendMail", run_id)
    assert "taskToken" not in waiting
    allow = answer.get_by_test_id("consent").get_by_role("button", name="Allow")
    allow.click()
    expect(allow).to_be_disabled()
    visitor.page.wait_for_load_state("networkidle")
    assert client.call("GET", "/confirmations")["confirmations"] == []
    gate.set()
    is_answered(answer)


@pytest.mark.parametrize(
    ("locale", "origin", "warning"),
    [
        ("en-GB", "Started by an incoming mail email_trigger", "These are not your own words"),
        ("de-CH", "Durch eine eingegangene Mail gestartet email_trigger", "Das sind nicht deine eigenen Worte"),
    ],
)
def test_user_is_warned_of_what_a_mail_asks_for(
    browser: Browser, script: Script, stack: LocalStack, client: Client, locale: str, origin: str, warning: str
) -> None:  # AG-16, also where the question is listed outside its conversation
    gate = threading.Event()
    question = script.add(["I will write to Anna. ", Hold(gate), "Done."])
    with visiting(browser, stack, locale) as visitor:
        visitor.sign_in()
        answer, run_id = begin(visitor, question)
        ask_for_consent(stack, client, run_id, origin=parse_session("email_trigger"))
        consent = answer.get_by_test_id("consent")
        expect(consent.get_by_test_id("consent-origin")).to_have_text(origin)
        expect(consent.get_by_test_id("consent-untrusted")).to_contain_text(warning)
        visitor.page.goto(stack.url)
        waiting = visitor.page.get_by_test_id("waiting-call")
        waiting.locator("summary").click()
        expect(waiting.get_by_test_id("consent-origin")).to_have_text(origin)
        expect(waiting.get_by_test_id("consent-untrusted")).to_contain_text(warning)
        waiting.get_by_test_id("consent").get_by_role("button").last.click()
        expect(waiting).to_have_count(0)
        gate.set()
        visitor.conversation_row(question).get_by_role("link").click()
        is_answered(visitor.answer_to(question))


def test_what_waits_is_listed_in_other_conversations_and_after_a_reload(
    visitor: Visitor, script: Script, stack: LocalStack, client: Client
) -> None:
    gate = threading.Event()
    question = script.add(["I will write to Anna. ", Hold(gate), "Done."])
    answer, run_id = begin(visitor, question)
    ask_for_consent(stack, client, run_id)
    expect(answer.get_by_test_id("consent")).to_be_visible()
    waiting = visitor.page.get_by_role("region", name="Waiting for you").get_by_test_id("waiting-call")
    expect(waiting).to_have_count(0)  # the step itself asks
    visitor.page.get_by_role("link", name="New conversation").or_(
        visitor.page.get_by_role("button", name="New conversation")
    ).first.click()
    expect(waiting).to_contain_text("sendMail")
    visitor.page.reload()
    expect(waiting).to_have_count(1)
    expect(waiting.get_by_text("anna@example.org")).to_be_hidden()
    waiting.locator("summary").click()
    expect(waiting.get_by_text("anna@example.org")).to_be_visible()
    waiting.get_by_role("button", name="Decline").click()
    expect(waiting).to_have_count(0)
    assert client.call("GET", "/confirmations")["confirmations"] == []
    gate.set()
    visitor.conversation_row(question).get_by_role("link").click()
    is_answered(answer)


def test_nobody_allows_what_they_cannot_read(
    visitor: Visitor, script: Script, stack: LocalStack, client: Client
) -> None:
    gate = threading.Event()
    visitor.excuse("status of 503")
    visitor.page.route("**/api/confirmations", lambda route: route.fulfill(status=503))
    answer, run_id = begin(visitor, script.add(["I will write to Anna. ", Hold(gate), "Done."]))
    ask_for_consent(stack, client, run_id, f'{{"text": "{"a" * 5_000} and the end."}}')
    allow = answer.get_by_test_id("consent").get_by_role("button", name="Allow")
    expect(allow).to_be_disabled()
    expect(answer.get_by_text("and the end.")).to_have_count(0)
    visitor.page.unroute("**/api/confirmations")
    answer.get_by_role("button", name="Show all of it").click()
    expect(answer.locator("pre").get_by_text("and the end.")).to_be_visible()
    expect(allow).to_be_enabled()
    allow.click()
    gate.set()
    is_answered(answer)
