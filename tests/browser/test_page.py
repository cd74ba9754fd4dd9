"""The page for everybody: both languages, light and dark, by keyboard alone, by screen reader (UI-01)."""

import threading

from playwright.sync_api import Locator, Page, expect

from tests.browser.visitor import Visitor, is_answered
from tests.scripted_server import Hold
from tests.stack import Script

_UNNAMED = """() => [...document.querySelectorAll('button, a[href], input:not([hidden]), textarea, select, summary')]
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.getAttribute('aria-label') || each.innerText || each.labels?.length))
  .map((each) => each.outerHTML)"""


def tab_to(page: Page, target: Locator, at_most: int = 8) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(at_most):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"Tab did not reach {target} from where the focus was")


def test_language_is_switched_and_kept(visitor: Visitor) -> None:
    page = visitor.page
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    page.get_by_role("button", name="Sprache: Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("heading", name="Was möchtest du wissen?")).to_be_visible()
    expect(page.get_by_role("textbox", name="Deine Frage")).to_be_visible()
    page.reload()
    expect(page.get_by_role("navigation", name="Gespräche")).to_be_visible()
    page.get_by_role("button", name="Language: English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_dark_mode_is_switched_and_kept(visitor: Visitor) -> None:
    page, body = visitor.page, visitor.page.locator("body")
    light = body.evaluate("body => getComputedStyle(body).backgroundColor")
    page.get_by_role("button", name="Appearance: as the system").click()
    expect(body).to_have_css("background-color", light)
    page.get_by_role("button", name="Appearance: light").click()
    expect(body).not_to_have_css("background-color", light)
    dark = body.evaluate("body => getComputedStyle(body).backgroundColor")
    page.reload()
    expect(body).to_have_css("background-color", dark)
    page.get_by_role("button", name="Appearance: dark").click()
    expect(body).to_have_css("background-color", light)
    page.emulate_media(color_scheme="dark")
    expect(body).to_have_css("background-color", dark)


def test_question_is_asked_and_stopped_by_keyboard_alone(visitor: Visitor, script: Script) -> None:
    page, keyboard, gate = visitor.page, visitor.page.keyboard, threading.Event()
    first = script.add(["One", Hold(gate), " never seen"], about="first line")
    expect(visitor.prompt).to_be_focused()
    keyboard.type(first)
    keyboard.press("Shift+Enter")
    keyboard.type("second line")
    expect(visitor.prompt).to_have_value(f"{first}\nsecond line")
    keyboard.press("Enter")
    expect(visitor.prompt).to_have_value("")
    answer = visitor.answer_to(first)
    expect(answer.get_by_test_id("answer-text")).to_have_text("One")
    tab_to(page, visitor.stop)
    keyboard.press("Enter")
    is_answered(answer)
    gate.set()

    second = script.add(["Two."])
    visitor.prompt.focus()
    keyboard.type(second)
    tab_to(page, visitor.send)
    keyboard.press("Space")
    is_answered(visitor.answer_to(second))


def test_file_is_mentioned_by_keyboard(visitor: Visitor) -> None:
    expect(visitor.upload("zz-mention.txt", b"Mentioned.")).to_have_attribute("data-status", "indexed")
    visitor.prompt.focus()
    visitor.page.keyboard.type("What says @zz-m")
    expect(visitor.page.get_by_role("option", name="zz-mention.txt")).to_have_attribute("aria-selected", "true")
    visitor.page.keyboard.press("Enter")
    expect(visitor.prompt).to_have_value("What says @zz-mention.txt ")
    expect(visitor.page.get_by_test_id("attached-file")).to_have_text("zz-mention.txt")
    expect(visitor.page.get_by_test_id("message-user")).to_have_count(0)


def test_landmarks_names_and_states_are_told(visitor: Visitor, script: Script) -> None:
    page, gate = visitor.page, threading.Event()
    expect(page.get_by_role("banner")).to_have_count(1)
    expect(page.get_by_role("main")).to_have_count(1)
    expect(page.get_by_role("navigation", name="Conversations")).to_be_visible()
    expect(page.get_by_role("region", name="Files")).to_be_visible()
    assert page.evaluate(_UNNAMED) == []
    answer = visitor.ask(script.add(["Told ", Hold(gate), "at last."]))
    announcer = page.get_by_role("status").filter(has_text="answer")
    expect(announcer).to_have_text("The answer is being written.")
    expect(visitor.stop).to_have_accessible_name("Stop")
    gate.set()
    is_answered(answer)
    expect(page.get_by_role("status").filter(has_text="Answer: Told at last.")).to_have_attribute("aria-live", "polite")
    expect(page.get_by_role("log", name="Conversation")).to_be_visible()
    expect(visitor.send).to_have_accessible_name("Send")
    assert page.evaluate(_UNNAMED) == []


def test_dialog_holds_the_focus_and_escape_leaves_it(visitor: Visitor) -> None:
    page = visitor.page
    opener = page.get_by_role("button", name="New folder")
    opener.click()
    dialog = page.get_by_role("dialog", name="New folder")
    expect(dialog.get_by_label("Folder name")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()


def test_page_fits_a_phone(visitor: Visitor) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 360, "height": 640})
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) == 0
    page.get_by_role("button", name="Conversations and files").click()
    expect(page.get_by_role("navigation", name="Conversations")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.get_by_role("navigation", name="Conversations")).not_to_be_in_viewport()
    expect(visitor.prompt).to_be_in_viewport()
