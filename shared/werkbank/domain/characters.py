"""Which text can be kept at all."""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Return text that UTF-8 and PostgreSQL can hold: halves of a character joined or replaced by U+FFFD, no NUL."""
    if not _UNSTORABLE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "")
