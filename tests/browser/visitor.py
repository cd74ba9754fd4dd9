"""A person at the page: what they do there, and what the page must not do meanwhile."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, FilePayload, Locator, Page, WebError, expect

from infra.local.stack import LocalStack


class Visitor:
    """One browser profile at a stack's page. Console errors, violated policies and requests to strangers are kept."""

    def __init__(self, context: BrowserContext, stack: LocalStack) -> None:
        self._complaints: list[str] = []
        self._excused: list[str] = []
        self._own = {urlsplit(url).netloc for url in (stack.url, stack.aws_endpoint)}
        context.on("console", self._on_console)
        context.on("weberror", self._on_error)
        context.on("request", lambda request: self._on_address(request.url))
        self.context = context
        self.url = stack.url
        self.page: Page = context.new_page()
        self.page.on("websocket", lambda socket: self._on_address(socket.url))
        self.prompt = self.page.get_by_test_id("prompt")
        self.send = self.page.get_by_test_id("send")
        self.stop = self.page.get_by_test_id("stop")
        self.preview = self.page.get_by_test_id("preview")

    def sign_in(self) -> None:
        """Go through both sign-in pages."""
        self.page.goto(self.url)
        self.page.get_by_test_id("sign-in").click()
        self.page.get_by_role("button", name="Continue as demo user").click()
        expect(self.prompt).to_be_visible()

    def ask(self, question: str) -> Locator:
        """Type a question and send it; returns its answer."""
        self.prompt.fill(question)
        self.prompt.press("Enter")
        return self.answer_to(question)

    def answer_to(self, question: str) -> Locator:
        """Return the message that answers a question."""
        return self.page.locator(".turn", has_text=question).get_by_test_id("message-assistant")

    def upload(self, name: str, content: bytes) -> Locator:
        """Bring a file into the page; returns its row."""
        file = FilePayload(name=name, mimeType="application/octet-stream", buffer=content)
        self.page.get_by_test_id("file-input").set_input_files(file)
        return self.file_row(name)

    def file_row(self, name: str) -> Locator:
        """Return a file's row in the list."""
        return self.page.get_by_test_id("file-row").filter(has_text=name)

    def conversation_row(self, title: str) -> Locator:
        """Return a conversation's row in the list."""
        return self.page.get_by_test_id("conversation-row").filter(has_text=title)

    def excuse(self, pattern: str) -> None:
        """Expect console errors like this one, which the test brings about."""
        self._excused.append(pattern)

    def assert_no_complaints(self) -> None:
        """Raise AssertionError with what the browser complained of."""
        pattern = "|".join(self._excused)
        complaints = [each for each in self._complaints if not (pattern and re.search(pattern, each))]
        assert not complaints, "\n".join(complaints)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":  # violated policies are among them
            self._complaints.append(message.text)

    def _on_error(self, error: WebError) -> None:
        self._complaints.append(f"uncaught: {error.error}")

    def _on_address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob", "about"} and parts.netloc not in self._own:
            self._complaints.append(f"request to a stranger: {url}")


@contextmanager
def visiting(browser: Browser, stack: LocalStack, locale: str = "en-GB") -> Iterator[Visitor]:
    """Be at the stack's page until the block ends, and complain if the browser did."""
    context = browser.new_context(
        locale=locale, timezone_id="Europe/Zurich", viewport={"width": 1280, "height": 800}, color_scheme="light"
    )
    visitor = Visitor(context, stack)
    try:
        yield visitor
    finally:
        context.close()
    visitor.assert_no_complaints()


def is_answered(answer: Locator) -> None:
    """Wait until an answer is complete."""
    expect(answer).to_have_attribute("data-state", "done")


def text_of(answer: Locator) -> str:
    """Return an answer's words as the page shows them."""
    return answer.get_by_test_id("answer-text").inner_text()
