"""Which addresses of the web a run may name to the outside.

An address can carry what a model knows to whoever answers there, and a text that a model reads may ask it to. So only
those go out that the user wrote in this conversation or a web search of this run has found, exactly as they stand: even
letter case and encoding could carry something.

Redirects are followed: where one leads was decided by a server that has got nothing but a known address, so its target
learns nothing that this server did not know. But it makes no address known: a server could hand out a new one with each
visit, and a model that obeys its pages could spell with them, letter by letter.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, urlsplit

# As people write them, `example.org/page` included. Begins at the beginning of a word, so that it stays linear.
_WRITTEN = re.compile(
    r"(?<![\w.@-])(?:https?://)?(?:[\w-]+\.)+[\w-]+(?::\d+)?(?:[/?][^\s<>\"'“”„«»{}|\\^`]*)?", re.IGNORECASE
)
_CLOSING = ".,;:!?)]*_"
_RESERVED = "%/:=&?~#+!$,;'@()*[]"

_Address = tuple[str, str, str]


def is_known(url: str, found: Iterable[str], written: Iterable[str]) -> bool:
    """Tell whether an address is among those `found`, or stands in one of the texts `written` by the user."""
    address = _address(url)
    spoken = (form for text in written for form in _forms(text))
    return bool(address[0]) and any(address == _address(known) for known in (*found, *spoken))


def named_in(text: str) -> list[str]:
    """Return the addresses in a text that goes out, such as a search. A bare name is none: `node.js` is a word."""
    names = (name.rstrip(_CLOSING) for name in _WRITTEN.findall(text))
    return [name for name in names if {*"/?"} & {*name}]


def _forms(text: str) -> Iterator[str]:
    """Yield the addresses that somebody wrote, also without what closes the sentence, and as browsers encode them."""
    for name in _WRITTEN.findall(text):
        for form in (name, name.rstrip(_CLOSING)):
            yield from (form, quote(form, safe=_RESERVED))


def _address(text: str) -> _Address:
    """Return what of an address reaches its server: host, path, query. A host in letters of its own stays as it is."""
    text = text.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
    except ValueError:
        return "", "", ""
    return parts.netloc.lower().removeprefix("www."), parts.path.removesuffix("/"), parts.query
