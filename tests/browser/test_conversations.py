"""The list of conversations (UI-01)."""

import uuid

from playwright.sync_api import expect

from tests.browser.visitor import Visitor, is_answered
from tests.stack import Script


def test_conversation_is_begun_found_renamed_and_deleted(visitor: Visitor, script: Script) -> None:
    page = visitor.page
    otter, badger = (script.add([f"About the {animal}."], about=f"The {animal}?") for animal in ("otter", "badger"))
    is_answered(visitor.ask(otter))
    page.get_by_test_id("new-conversation").click()
    expect(page.get_by_test_id("message-user")).to_have_count(0)
    is_answered(visitor.ask(badger))
    row = visitor.conversation_row(otter)
    row.get_by_role("link").click()
    expect(visitor.answer_to(otter)).to_contain_text("About the otter.")
    expect(visitor.answer_to(badger)).to_have_count(0)
    expect(row.get_by_role("link")).to_have_attribute("aria-current", "page")

    title = f"Lutra {uuid.uuid4()}"
    row.get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Title").fill(title)
    page.keyboard.press("Enter")
    renamed = visitor.conversation_row(title)
    expect(renamed).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page).to_have_title(f"{title} – Werkbank")

    search = page.get_by_role("searchbox", name="Search conversations")
    search.fill("Lutra")
    expect(visitor.conversation_row(badger)).to_have_count(0)
    expect(renamed).to_be_visible()
    search.fill("no such animal")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
    search.fill("")

    renamed.get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(renamed).to_be_visible()
    renamed.get_by_role("button", name="Actions for").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(renamed).to_have_count(0)
    expect(visitor.conversation_row(badger)).to_be_visible()
    expect(page.get_by_test_id("message-user")).to_have_count(0)


def test_what_was_typed_stays_with_its_conversation(visitor: Visitor, script: Script) -> None:
    question = script.add(["Answered."], about="Draft?")
    is_answered(visitor.ask(question))
    visitor.prompt.fill("half a thought")
    visitor.page.get_by_test_id("new-conversation").click()
    expect(visitor.prompt).to_have_value("")
    visitor.conversation_row(question).get_by_role("link").click()
    expect(visitor.prompt).to_have_value("half a thought")
    visitor.page.reload()
    expect(visitor.prompt).to_have_value("half a thought")
