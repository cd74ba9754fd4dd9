"""What only a browser decides: forms without JavaScript, cross-origin uploads, content policies."""  # DP-02, FM-02

import shutil
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, sync_playwright

from infra.local.stack import LocalStack

_UPLOAD = """async ([put, get]) => {
  const stored = await fetch(put, {method: 'PUT', body: 'from the page', headers: {'Content-Type': 'text/plain'}});
  const read = await fetch(get);
  return [stored.status, stored.headers.get('etag') !== null, await read.text()];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs Debian's chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def test_signing_in_works_without_javascript(browser: Browser, twin: LocalStack) -> None:
    asked = {
        "client_id": twin.client_id,
        "response_type": "code",
        "redirect_uri": f"{twin.url}/",
        "state": "here",
        "code_challenge": "x" * 43,
        "code_challenge_method": "S256",
    }
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{twin.url}/oauth2/authorize?{urlencode(asked)}")
    page.get_by_role("button", name="Continue as demo user").click()
    page.wait_for_url(f"{twin.url}/?code=*&state=here")


def test_the_page_uploads_straight_to_the_bucket(browser: Browser, twin: LocalStack) -> None:
    s3, bucket = twin.client("s3"), twin.function_environment("EdgeFunction")["BUCKET_NAME"]
    place = {"Bucket": bucket, "Key": "files/from-browser.txt"}
    put = s3.generate_presigned_url("put_object", Params={**place, "ContentType": "text/plain"})
    get = s3.generate_presigned_url("get_object", Params=place)
    page = browser.new_page()
    page.goto(f"{twin.url}/items/1")
    assert page.evaluate(_UPLOAD, [put, get]) == [200, True, "from the page"]
