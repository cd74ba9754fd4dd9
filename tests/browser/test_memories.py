"""What is always remembered shows at the question and is changed there, by keyboard too (AG-17)."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor, is_answered
from tests.stack import Script


def test_user_pins_a_question_by_keyboard_and_it_stays_pinned(visitor: Visitor, script: Script) -> None:
    question = script.add(["In Bern."], about="Wo ist die Filiale?")
    is_answered(visitor.ask(question))
    pin = visitor.page.locator(".turn", has_text=question).get_by_role("button", name="Always remember this")
    expect(pin).to_have_attribute("aria-pressed", "false")
    pin.focus()
    expect(pin).to_have_css("opacity", "1")
    pin.press("Enter")
    expect(pin).to_have_attribute("aria-pressed", "true")
    visitor.page.reload()
    expect(pin).to_have_attribute("aria-pressed", "true")


def test_what_is_to_be_remembered_is_pinned_at_once(visitor: Visitor, script: Script) -> None:
    question = script.add(["Gemerkt."], about="Merke dir: Die Filiale ist in Bern.")
    is_answered(visitor.ask(question))
    pin = visitor.page.locator(".turn", has_text=question).get_by_role("button", name="Always remember this")
    expect(pin).to_have_attribute("aria-pressed", "true")
