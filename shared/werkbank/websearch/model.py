"""What comes from the web."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from werkbank.domain.base import WireModel


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page that was read: the address it was found at in the end, its title if it has one, its main text."""

    url: str
    title: str
    text: str


class WebResult(WireModel):
    """A page that a search found, with the part of it that answers; `published` as the search tells it, if it does.

    A page that was read has the address asked for in `redirected_from` where its server has named another.
    """

    url: str
    title: str
    text: str
    published: str | None = None
    redirected_from: str | None = None


class WebFacts(WireModel):
    """What a search gives: facts, worded for a model and not for a person, and the pages they rest on."""

    facts: str = ""
    results: tuple[WebResult, ...] = ()


def site_of(url: str) -> str:
    """Return a page's site as a person says it: `example.org`."""
    host = urlsplit(url).hostname or url
    return host.removeprefix("www.")
