"""The local sign-in: code flow with PKCE, tokens from Cognito."""  # DP-02

import hashlib
import secrets
from base64 import urlsafe_b64encode
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from infra.local.stack import LocalStack


def _challenge(verifier: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _request(twin: LocalStack, verifier: str, **changes: str) -> dict[str, str]:
    return {
        "client_id": twin.client_id,
        "response_type": "code",
        "redirect_uri": f"{twin.url}/",
        "scope": "openid",
        "state": "<&>",
        "code_challenge": _challenge(verifier),
        "code_challenge_method": "S256",
        **changes,
    }


class _Form(HTMLParser):
    """Reads the hidden fields of the page, as a browser without JavaScript sends them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "input":
            self.fields[values["name"] or ""] = values["value"] or ""


def _code(page: httpx.Client, twin: LocalStack, verifier: str) -> str:
    shown = page.get("/oauth2/authorize", params=_request(twin, verifier))
    assert "Continue as demo user" in shown.text
    assert "Local sign-in" in shown.text
    sent = page.post("/oauth2/authorize", data=_Form(shown.text).fields)
    assert sent.status_code == 303
    answer = parse_qs(urlsplit(sent.headers["location"]).query)
    assert answer["state"] == ["<&>"]
    return answer["code"][0]


def _redeem(page: httpx.Client, twin: LocalStack, code: str, verifier: str, **changes: str) -> httpx.Response:
    form = {
        "grant_type": "authorization_code",
        "client_id": twin.client_id,
        "code": code,
        "redirect_uri": f"{twin.url}/",
        "code_verifier": verifier,
        **changes,
    }
    return page.post("/oauth2/token", data=form)


def test_the_whole_flow_ends_at_a_private_route(page: httpx.Client, twin: LocalStack) -> None:
    verifier = secrets.token_urlsafe(48)
    tokens = _redeem(page, twin, _code(page, twin, verifier), verifier).json()
    assert page.get("/private/x", headers={"Authorization": f"Bearer {tokens['access_token']}"}).status_code == 200
    form = {"grant_type": "refresh_token", "client_id": twin.client_id, "refresh_token": tokens["refresh_token"]}
    fresh = page.post("/oauth2/token", data=form).json()
    assert page.get("/private/x", headers={"Authorization": f"Bearer {fresh['access_token']}"}).status_code == 200


def test_a_wrong_verifier_is_refused_and_uses_up_the_code(page: httpx.Client, twin: LocalStack) -> None:
    verifier = secrets.token_urlsafe(48)
    code = _code(page, twin, verifier)
    assert _redeem(page, twin, code, "wrong").json() == {"error": "invalid_grant"}
    assert _redeem(page, twin, code, verifier).status_code == 400


def test_a_code_works_once(page: httpx.Client, twin: LocalStack) -> None:
    verifier = secrets.token_urlsafe(48)
    code = _code(page, twin, verifier)
    assert _redeem(page, twin, code, verifier).status_code == 200
    assert _redeem(page, twin, code, verifier).status_code == 400


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": "http://127.0.0.1:8080.evil.example/"},
        {"client_id": "other"},
        {"response_type": "token"},
        {"code_challenge_method": "plain"},
        {"code_challenge": ""},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_other_requests_are_refused(page: httpx.Client, twin: LocalStack, changes: dict[str, str]) -> None:
    asked = _request(twin, "v", **changes)
    assert page.get("/oauth2/authorize", params=asked).status_code == 400
    assert page.post("/oauth2/authorize", data=asked).status_code == 400


def test_refresh_tokens_are_checked(page: httpx.Client, twin: LocalStack) -> None:
    form = {"grant_type": "refresh_token", "client_id": twin.client_id, "refresh_token": "none"}
    assert page.post("/oauth2/token", data=form).status_code == 400


def test_logout_leads_back_to_the_page_only(page: httpx.Client, twin: LocalStack) -> None:
    there = page.get("/logout", params={"client_id": twin.client_id, "logout_uri": f"{twin.url}/"})
    assert (there.status_code, there.headers["location"]) == (303, f"{twin.url}/")
    assert page.get("/logout", params={"logout_uri": "https://evil.example"}).status_code == 400
