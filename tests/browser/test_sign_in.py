"""Signing in by code flow with PKCE (RFC 6749, RFC 7636), and out (UI-01, DP-02)."""

import hashlib
from base64 import urlsafe_b64encode
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


def test_signing_in_proves_who_asked_and_leaves_no_code_behind(stranger: Visitor) -> None:
    page = stranger.page
    page.goto(stranger.url)
    page.get_by_test_id("sign-in").click()
    page.wait_for_url("**/oauth2/authorize?*")
    asked = parse_qs(urlsplit(page.url).query)
    assert (asked["response_type"], asked["code_challenge_method"]) == (["code"], ["S256"])
    with page.expect_request("**/oauth2/token") as granted:
        page.get_by_role("button", name="Continue as demo user").click()
    grant = parse_qs(granted.value.post_data or "")
    digest = hashlib.sha256(grant["code_verifier"][0].encode()).digest()
    assert urlsafe_b64encode(digest).rstrip(b"=").decode() == asked["code_challenge"][0]
    expect(stranger.prompt).to_be_visible()
    assert urlsplit(page.url).query == ""


def test_signing_out_forgets_the_user(visitor: Visitor) -> None:
    visitor.page.get_by_test_id("sign-out").click()
    expect(visitor.page.get_by_test_id("sign-in")).to_be_visible()
    visitor.page.reload()
    expect(visitor.page.get_by_test_id("sign-in")).to_be_visible()
    assert visitor.page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})") == "{}"


def test_code_that_this_tab_did_not_ask_for_is_refused(stranger: Visitor) -> None:
    stranger.page.goto(f"{stranger.url}/?code=stolen&state=foreign")
    expect(stranger.page.get_by_role("alert").filter(has_text="Signing in did not work")).to_be_visible()
    expect(stranger.prompt).not_to_be_visible()
    assert urlsplit(stranger.page.url).query == ""
