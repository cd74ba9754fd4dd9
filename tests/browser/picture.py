"""`PYTHONPATH=shared python -m tests.browser.picture`: takes README's picture of the page, functions/web/page.png.

Upload, index, search and citations are real; what the model says is written here, so that the picture needs no key.
"""

import sys
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.chromium import chromium
from tests.browser.test_offline import GEOTOPO
from tests.browser.visitor import is_answered, visiting
from tests.scripted_server import scripted_server
from tests.stack import temporary_stack
from werkbank.domain.messages import ToolCall, Usage

PICTURE = Path(__file__).parents[2] / "functions" / "web" / "page.png"
QUESTION = "Was ist eine Mannigfaltigkeit mit Rand?"
SEARCH = ToolCall(id="search", name="searchFiles", arguments='{"query": "Mannigfaltigkeit mit Rand Atlas Halbraum"}')
ANSWER = """\
Eine **n-dimensionale Mannigfaltigkeit mit Rand** ist ein Hausdorffraum mit abzählbarer Basis der Topologie, der einen \
Atlas aus Karten in den Halbraum { x ∈ ℝⁿ | xₙ ≥ 0 } besitzt: Jede Karte ist ein Homöomorphismus auf eine offene \
Teilmenge davon [1].

| Begriff | Bedeutung |
|---|---|
| **Rand ∂X** | die Punkte, deren letzte Koordinate unter einer Karte 0 ist [1] |
| **Beispiele** | Halbraum, «Pair of pants», Sphäre mit einem Loch [1] |
| **differenzierbar** | alle Kartenwechsel sind k-mal stetig differenzierbar [4] |

Trotz ihres Namens sind Mannigfaltigkeiten mit Rand **keine** Mannigfaltigkeiten: An den Randpunkten sieht der Raum \
nicht aus wie der ℝⁿ, sondern wie ein Halbraum [1]."""


def main() -> int:
    """Take the picture; the exit code is 1 when the file it shows is not here."""
    if not GEOTOPO.exists():
        print(f"There is no {GEOTOPO}.", file=sys.stderr)
        return 1
    expect.set_options(timeout=60_000)
    usage = Usage(input_tokens=4_180, output_tokens=236)
    with chromium() as browser, scripted_server([[SEARCH], [ANSWER]], usage) as server:
        environment = {"WERKBANK_PRIVATE_LLM_URL": server.url, "WERKBANK_PRIVATE_LLM_MODEL": "scripted"}
        with temporary_stack(environment) as stack, visiting(browser, stack, "de-CH") as visitor:
            visitor.page.set_viewport_size({"width": 1440, "height": 900})
            visitor.sign_in()
            visitor.page.get_by_test_id("file-input").set_input_files(GEOTOPO)
            expect(visitor.file_row(GEOTOPO.name)).to_have_attribute("data-status", "indexed")
            answer = visitor.ask(QUESTION)
            is_answered(answer)
            for place in ("Seite 32", "Seite 33"):
                expect(answer.locator(".sources")).to_contain_text(place)
            expect(visitor.conversation_row(QUESTION).locator(".pulse")).to_have_count(0)
            answer.get_by_test_id("answer-text").get_by_test_id("citation").first.click()
            expect(visitor.preview.locator(".is-cited").first).to_be_in_viewport()
            visitor.page.screenshot(path=PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
