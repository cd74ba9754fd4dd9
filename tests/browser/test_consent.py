"""A call that waits for its user (AG-24). No tool of the core toolbox needs it, so the call is written by hand."""

import threading

import psycopg
from playwright.sync_api import expect

from infra.local.client import Client
from infra.local.stack import LocalStack
from tests.browser.visitor import Visitor, is_answered
from tests.scripted_server import Hold
from tests.stack import Script


def ask_for_consent(stack: LocalStack, client: Client, run_id: str) -> None:
    """Let the running question want to send a mail."""
    me = client.call("GET", "/me")
    ids = {"runId": run_id, "mandateId": me["mandateId"], "userId": me["userId"]}
    assert stack.app
    with psycopg.connect(stack.app.uri()) as connection:
        for name, value in (("mandate_id", me["mandateId"]), ("user_id", me["userId"])):
            connection.execute("SELECT set_config('werkbank.' || %s, %s, false)", (name, value))
        connection.execute(
            "INSERT INTO tool_call (run_id, round, call_id, position, mandate_id, user_id, name, arguments)"
            " VALUES (%s, 1, 'mail', 0, %s, %s, 'sendMail', %s)",
            (run_id, me["mandateId"], me["userId"], '{"to": "anna@example.org"}'),
        )
    stack.invoke("ExecuteToolFunction", {**ids, "round": 1, "callId": "mail", "taskToken": "nobody waits on it"})


def test_user_is_asked_and_decides(visitor: Visitor, script: Script, stack: LocalStack, client: Client) -> None:
    gate = threading.Event()
    question = script.add(["I will write to Anna. ", Hold(gate), "Done."])
    answer = visitor.ask(question)
    expect(answer.get_by_test_id("answer-text")).to_have_text("I will write to Anna.")
    run_id = visitor.page.locator(".turn", has_text=question).get_attribute("data-run")
    assert run_id
    ask_for_consent(stack, client, run_id)
    step = answer.get_by_test_id("tool-step")
    expect(step).to_have_attribute("data-status", "waiting")
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
