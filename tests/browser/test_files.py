"""Files as a user brings them: by file dialog, by drag and drop, good ones and bad ones (UI-01, FM-02)."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.visitor import Visitor


def drop(visitor: Visitor, onto: str, *paths: Path) -> None:
    """Drag files from the desktop onto an element, and let go."""
    box = visitor.page.locator(onto).bounding_box()
    assert box is not None
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    devtools = visitor.context.new_cdp_session(visitor.page)
    for kind in ("dragEnter", "dragOver"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "data": data, **place})
    expect(visitor.page.locator(".drop-veil")).to_be_visible()
    devtools.send("Input.dispatchDragEvent", {"type": "drop", "data": data, **place})


def test_chosen_file_shows_its_upload_and_becomes_indexed(visitor: Visitor) -> None:
    held: list[Route] = []
    to_storage = re.compile(rf"^(?!{re.escape(visitor.url)}/).*/files/")
    visitor.page.route(to_storage, lambda route: held.append(route))
    with visitor.page.expect_file_chooser() as chooser:
        visitor.page.get_by_role("button", name="Upload files").click()
    content = "The kingfisher nests in river banks."
    chooser.value.set_files({"name": "kingfisher.md", "mimeType": "text/markdown", "buffer": content.encode()})
    row = visitor.file_row("kingfisher.md")
    expect(row).to_have_attribute("data-status", "uploading")
    expect(row.get_by_role("progressbar", name="Uploading")).to_be_visible()
    visitor.page.unroute_all()
    for route in held:
        route.continue_()
    expect(row).to_have_attribute("data-status", "indexed")
    expect(row.get_by_role("progressbar")).to_have_count(0)
    row.get_by_role("button", name="kingfisher.md").first.click()
    expect(visitor.preview).to_contain_text(content)


def test_dropped_files_and_folders_become_indexed(visitor: Visitor, tmp_path: Path) -> None:
    folder = tmp_path / "birds" / "of water"
    folder.mkdir(parents=True)
    (folder / "heron.txt").write_text("The heron stands still.")
    (tmp_path / "stork.csv").write_text("bird,month\nstork,March\n")
    drop(visitor, ".files", tmp_path / "birds", tmp_path / "stork.csv")
    for name in ("heron.txt", "stork.csv"):
        expect(visitor.file_row(name)).to_have_attribute("data-status", "indexed")
    expect(visitor.page.get_by_test_id("attached-file")).to_have_count(0)


def test_file_dropped_on_the_chat_is_attached_to_the_question(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "crane.txt").write_text("The crane dances.")
    drop(visitor, ".chat", tmp_path / "crane.txt")
    attached = visitor.page.get_by_test_id("attached-file")
    expect(attached).to_have_text("crane.txt")
    attached.get_by_role("button", name="Remove crane.txt").click()
    expect(attached).to_have_count(0)
    expect(visitor.file_row("crane.txt")).to_have_attribute("data-status", "indexed")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [("torn.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog", "PDF"), ("empty.txt", b"", "empty")],
)
def test_bad_file_says_why_and_can_be_deleted(visitor: Visitor, name: str, content: bytes, reason: str) -> None:
    row = visitor.upload(name, content)
    expect(row).to_have_attribute("data-status", "failed")
    expect(row).to_contain_text("Not indexed:")
    expect(row).to_contain_text(reason)
    row.get_by_role("button", name=f"Actions for {name}").click()
    visitor.page.get_by_role("menuitem", name="Delete").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)


def test_file_beyond_the_limit_is_refused_before_anything_is_sent(visitor: Visitor) -> None:
    def with_small_limit(route: Route) -> None:
        route.fulfill(body=json.dumps({**route.fetch().json(), "maxUploadBytes": 10}), content_type="application/json")

    visitor.page.route("**/api/me", with_small_limit)
    with visitor.page.expect_response("**/api/me"):
        visitor.page.reload()
    sent: list[str] = []
    visitor.page.on("request", lambda request: sent.append(request.method))
    expect(visitor.page.locator(".spending")).to_be_visible()
    row = visitor.upload("large.txt", b"x" * 11)
    expect(visitor.page.get_by_test_id("problem-toast")).to_contain_text("large.txt is too large")
    expect(row).to_have_count(0)
    assert "PUT" not in sent
