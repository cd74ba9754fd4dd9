"""Which characters of a file may go on into the database, the search index and the page."""

import re
import unicodedata

# PostgreSQL's text cannot hold NUL, UTF-8 cannot hold lone surrogates, and no reader gains from control characters.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
_AS_SPACE = {"\x0b": "\n", "\x0c": "\n"}
_RETURNS = re.compile(r"\r\n?")
_WIDE_SPACES = re.compile("[\xa0\u2000-\u200a\u202f\u205f\u3000]")
# Ligatures and Arabic letters drawn in their contextual shape: nobody searches for “ﬁ”.
_PRESENTATION = re.compile("[\ufb00-\ufb4f\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]+")


def clean_text(text: str) -> str:
    """Return `text` without characters that cannot be stored or searched, in NFC, with plain spaces and newlines."""
    if text.isascii() and text.isprintable():
        return text
    text = _RETURNS.sub("\n", text)
    text = _FORBIDDEN.sub(lambda match: _AS_SPACE.get(match[0], ""), text)
    text = _WIDE_SPACES.sub(" ", text)
    text = _PRESENTATION.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return unicodedata.normalize("NFC", text)


def squeeze(text: str) -> str:
    """Return `text` on one line: every run of white space is one space."""
    return " ".join(clean_text(text).split())
