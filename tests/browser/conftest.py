"""The page in a real browser, in front of the whole system (UI-01, DP-02)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from infra.local.stack import LocalStack
from tests.browser.chromium import NoBrowserError, chromium
from tests.browser.visitor import Visitor, visiting

_PAGE = Path(__file__).parents[2] / "functions" / "web" / "dist" / "index.html"

# A first question starts a process of every function of a run; on a busy machine that takes its time.
expect.set_options(timeout=60_000)


# Per module, since no other test can run an event loop in this thread while Playwright has its own there.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not _PAGE.exists():
        pytest.skip("the page is not built: `make page` does it")
    try:
        with chromium() as browser:
            yield browser
    except NoBrowserError as error:
        pytest.skip(str(error))


@pytest.fixture
def stranger(browser: Browser, stack: LocalStack) -> Iterator[Visitor]:
    """Somebody who has not signed in."""
    with visiting(browser, stack) as visitor:
        yield visitor


@pytest.fixture
def visitor(stranger: Visitor) -> Visitor:
    """The demo user, signed in."""
    stranger.sign_in()
    return stranger
