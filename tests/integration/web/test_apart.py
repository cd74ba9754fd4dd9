"""Whatever a page is made of, reading it ends, and kills nobody but the process that reads it (TB-07)."""

import sys

import pytest

from werkbank.domain.errors import ToolError
from werkbank.web.apart import read_apart
from werkbank.web.connection import Deadline
from werkbank.web.main_text import MAX_TAGS, read_content

pytest.importorskip("trafilatura")


def _page(body: str) -> bytes:
    return f"<!doctype html><title>T</title>{body}".encode()


def _read(data: bytes, seconds: float = 60) -> str:
    return read_apart(data, "https://example.org/", "text/html", None, Deadline(seconds)).text


def _readings(data: bytes) -> list[str]:
    return [page.text for page in read_content(data, "https://example.org/", "text/html", None)]


def test_long_article_is_read_without_what_surrounds_it() -> None:
    paragraph = "<p>Bridge {} over the river was opened in June <a href='/x'>after</a> four <b>years</b> of work.</p>"
    article = "".join(map(paragraph.format, range(8_000)))
    assert len(article) > 700_000
    text = _read(_page(f"<nav>Subscribe now</nav><article>{article}</article>"))
    assert text.count("over the river") == 8_000
    assert "Subscribe" not in text


def test_page_of_too_many_tags_is_read_as_it_stands() -> None:
    few, many = (_page("<p>hello there" * count) for count in (100, MAX_TAGS + 1))
    assert len(_readings(few)) == 2
    assert len(_readings(many)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "<p>" + "<b>a</b> " * 45_000,  # trafilatura takes gigabytes
        "<table><tr><td>a<td>b</table>" * 18_000,  # and here minutes
    ],
    ids=["memory", "time"],
)
def test_page_whose_main_text_cannot_be_found_is_read_as_it_stands(body: str) -> None:
    as_it_stands = next(read_content(_page(body), "https://example.org/", "text/html", None))
    assert _read(_page(body)) == as_it_stands.text


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux alone")
def test_page_that_takes_too_much_memory_is_refused() -> None:
    with pytest.raises(ToolError, match="too large or too intricate"):
        _read(_page("<img src=a alt=b>" * 300_000))


def test_page_that_takes_too_much_time_is_refused() -> None:
    attributes = " ".join(f"a{number}=1" for number in range(500_000))
    with pytest.raises(ToolError, match="within 2 seconds"):
        _read(_page(f"<p {attributes}>hello"), seconds=2)


def test_drawings_that_multiply_end_with_the_deadline() -> None:
    """A PDF of 2 kB whose one page draws a word a hundred million times: nothing between two pages would end it."""
    with pytest.raises(ToolError):
        read_apart(_multiplying_pdf(8, 10), "https://example.org/a.pdf", "application/pdf", None, Deadline(2))


def test_characters_survive_the_way_back() -> None:
    page = read_apart("Grüße \u2028 💐\n".encode(), "https://x/y", "text/plain", None, Deadline(60))
    assert (page.url, page.title, page.text.split()) == ("https://x/y", "y", ["Grüße", "💐"])


def _multiplying_pdf(levels: int, times: int) -> bytes:
    form = "/Type/XObject/Subtype/Form/BBox[0 0 600 800]"
    bodies = [("", "/F Do")]
    bodies += [(f"{form}/Resources<</XObject<</F {6 + level} 0 R>>>>", "/F Do " * times) for level in range(levels)]
    font = "/Resources<</Font<</A<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    bodies.append((form + font, "BT /A 12 Tf 10 10 Td (hello) Tj ET"))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</XObject<</F 5 0 R>>>>/Contents 4 0 R>>",
        *(f"<<{head}/Length {len(content)}>>stream\n{content}\nendstream" for head, content in bodies),
    ]
    listed = "".join(f"{number} 0 obj\n{content}\nendobj\n" for number, content in enumerate(objects, 1))
    return f"%PDF-1.4\n{listed}trailer<</Root 1 0 R>>\n%%EOF".encode()
