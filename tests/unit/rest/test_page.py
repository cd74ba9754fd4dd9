"""The page's files, and nothing else, with headers that keep it safe."""

import base64
from pathlib import Path

import pytest

from werkbank.rest.page import Page, SignIn, origin_of

SIGN_IN = SignIn("https://issuer", "client", "https://login/authorize", "https://login/token", "https://login/logout")


@pytest.fixture
def page(tmp_path: Path) -> Page:
    dist = tmp_path / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text("<!doctype html>")
    (dist / "assets" / "app-1a2b.js").write_text("run()")
    (dist / "icon.png").write_bytes(b"\x89PNG")
    (tmp_path / "handler.py").write_text("secret")
    return Page(dist, SIGN_IN, ("https://login", "wss://socket"))


def test_page_and_its_own_routes(page: Page) -> None:
    for path in ("/", "/index.html", "/c/123"):
        answer = page.serve(path)
        assert (answer["statusCode"], answer["body"]) == (200, "<!doctype html>")


def test_assets_are_kept_for_ever_and_the_page_is_not(page: Page) -> None:
    assert "immutable" in str(page.serve("/assets/app-1a2b.js")["headers"])
    assert "no-cache" in str(page.serve("/")["headers"])
    assert page.serve("/assets/old.js")["statusCode"] == 404


def test_pictures_travel_as_base64(page: Page) -> None:
    answer = page.serve("/icon.png")
    assert answer["isBase64Encoded"]
    assert base64.b64decode(str(answer["body"])) == b"\x89PNG"


@pytest.mark.parametrize("path", ["/../handler.py", "/assets/../../handler.py", "//etc/passwd", "/%2e%2e/handler.py"])
def test_nothing_outside_the_folder_is_served(page: Page, path: str) -> None:
    answer = page.serve(path)
    assert "secret" not in str(answer["body"])
    assert "root:" not in str(answer["body"])


def test_policy_lets_the_page_talk_only_where_it_must(page: Page) -> None:
    headers = page.serve("/")["headers"]
    assert isinstance(headers, dict)
    policy = str(headers["content-security-policy"])
    assert "connect-src 'self' https://login wss://socket" in policy
    assert "unsafe" not in policy


def test_origin_of_a_url() -> None:
    assert origin_of("https://bucket.s3.amazonaws.com/key?X-Amz=1") == "https://bucket.s3.amazonaws.com"
