"""Which addresses of the web a run may open.

An address can carry what a model knows to whoever answers there, and a text that a model reads may ask it to. So it
opens only what the user wrote in this conversation or a web search of this run has found, never one of its own making.
"""

import re
from collections.abc import Iterable
from urllib.parse import unquote

_PREFIX = re.compile(r"https?://|\bwww\.")


def is_known(url: str, found: Iterable[str], written: Iterable[str]) -> bool:
    """Tell whether an address is among those `found`, or stands in one of the texts `written` by the user."""
    bare = _bare(_page(url))
    if not bare:
        return False
    if any(bare == _bare(_page(address)) for address in found):
        return True
    standing = re.compile(rf"(?<![\w.@-]){re.escape(bare)}")
    return any(standing.search(_bare(text)) for text in written)


def _page(url: str) -> str:
    """Return an address without the place in its page."""
    return url.partition("#")[0]


def _bare(text: str) -> str:
    """Return an address, or a text with addresses, without what people leave out: scheme, `www.`, the last slash."""
    return _PREFIX.sub("", unquote(text).lower()).rstrip("/")
