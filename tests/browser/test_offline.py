"""Without any key the built-in model answers, and the page says so (DP-02, AI-01)."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.visitor import is_answered, text_of, visiting
from tests.stack import temporary_stack

GEOTOPO = Path(__file__).parents[3] / "shared" / "data" / "pdf" / "GeoTopo-komprimiert.pdf"


@pytest.mark.skipif(not GEOTOPO.exists(), reason="the test material ../shared/data is not here")
def test_offline_model_answers_from_the_file_and_says_that_it_is_one(browser: Browser) -> None:
    with temporary_stack({}) as stack, visiting(browser, stack, locale="de-CH") as visitor:
        visitor.sign_in()
        expect(visitor.page.get_by_test_id("offline-banner")).to_contain_text("Offline-Modell")
        visitor.page.get_by_test_id("file-input").set_input_files(GEOTOPO)
        expect(visitor.file_row(GEOTOPO.name)).to_have_attribute("data-status", "indexed")
        answer = visitor.ask("Was ist ein metrischer Raum?")
        is_answered(answer)
        assert "metrische" in text_of(answer)
        expect(answer.get_by_test_id("offline-badge")).to_have_text("Offline-Modell")
        mark = answer.get_by_test_id("answer-text").get_by_test_id("citation").first
        mark.click()
        expect(visitor.preview.get_by_role("heading", name=GEOTOPO.name)).to_be_visible()
        expect(visitor.preview.locator(".is-cited").first).to_be_in_viewport()
        place = f"Seite {visitor.preview.get_attribute('data-page')}"
        expect(mark).to_have_accessible_name(f"Quelle {mark.inner_text()}: {GEOTOPO.name}, {place}")
