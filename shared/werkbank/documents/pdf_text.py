"""From the lines of blocks to running text: words divided at line ends are whole again."""

import re
from itertools import pairwise

from werkbank.documents.pdf_page import Block, Line, is_same_row

_HYPHENS = ("-", "\xad", "\u2010")
_DIVIDED = re.compile(r"[^\W\d_](?:-|\xad|\u2010)$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
# After these a hyphen stands for an omitted part and stays: “Haupt- und Nebensatz”.
_AFTER_SUSPENDED_HYPHEN = "und oder bzw beziehungsweise bis sowie noch als wie and or to nor et ou e o"
_SUSPENDED = frozenset(_AFTER_SUSPENDED_HYPHEN.split())
_ITEM = re.compile(r"\s*(?:[•‣◦▪■●○–—*✓➢►\uf0b7]|-(?=\s)|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)](?=\s))")
PUNCTUATION = ".,;:!?()[]{}\"'„“”«»–"
_SHORT_LINE = 0.75
_FULL_LINE = 0.9
_MIN_PROSE_LINE = 30
_SENTENCE_ENDS = (".", "!", "?", ":", ";", "。", "؟")
# Fonts draw lam-alef as one glyph; reversed with its neighbours it comes out backwards. After an alef it must be wrong.
_TURNED_LAM_ALEF = re.compile("\u0627([\u0622\u0623\u0625\u0627])\u0644")
_LEADERS = re.compile(r"(?:\s?[.·]){5,}|_{5,}")
_SPACES = re.compile(r"[ \t]{2,}")
# Old TeX fonts set “ü” as two characters; the dots come first.
_LOOSE_DIAERESIS = re.compile("[\xa8\u0308] ?([aouAOU])")


class TextJoiner:
    """Joins lines; `hyphenated` are the document's words with a hyphen, which stays when a line ends at it."""

    def __init__(self, hyphenated: frozenset[str]) -> None:
        self._hyphenated = hyphenated

    def block(self, block: Block) -> str:
        """Return the text of a block: one line, except where the lines are items, code, verse or the like."""
        lines = block.lines
        parts = [lines[0].text.strip()]
        for last, line in pairwise(lines):
            text = line.text.strip() if not line.is_mono else line.text.rstrip()
            self.append(parts, _joint(last, line, block), text)
        return tidy("".join(parts))

    def append(self, parts: list[str], joint: str, text: str) -> None:
        """Add `text`; where the text so far ends in a divided word, mend it instead of adding the joint."""
        last = parts[-1]
        if joint not in (" ", "\n") or not last.endswith(_HYPHENS) or not _DIVIDED.search(last[-2:]):
            parts += [joint, text]
            return
        following = _FIRST_WORD.match(text)
        if following is None or following[0].lower() in _SUSPENDED:
            parts += [" " if last[-1] != "\xad" else "", text]
            return
        if last[-1] == "\xad" or (following[0][0].islower() and not self._has_hyphen(last, following[0])):
            parts[-1] = last[:-1]
        parts.append(text)

    def _has_hyphen(self, last: str, following: str) -> bool:
        """Tell whether the document elsewhere writes this word with a hyphen within a line."""
        return (last.rsplit(None, 1)[-1] + following).strip(PUNCTUATION).lower() in self._hyphenated


def continues(last: Block, block: Block) -> bool:
    """Tell whether a paragraph goes on in the next block: over a wide line gap, into the next column."""
    before, after = last.lines[-1], block.lines[0]
    if abs(before.size - after.size) > 0.05 * before.size or last.is_bold != block.is_bold or after.is_mono:
        return False
    end, start = before.text.rstrip(), after.text.lstrip()
    if not start or end.endswith(_SENTENCE_ENDS):
        return False
    if start[0].islower():
        return last.length > _MIN_PROSE_LINE and (end[-1].isalpha() or end[-1] in ",-\xad\u2010")
    gap = after.y0 - before.y1
    has_no_case = start[0].isalpha() and not start[0].isupper()
    is_full = before.x1 - before.x0 > _FULL_LINE * (after.x1 - after.x0)
    return has_no_case and is_full and abs(gap) < before.size and abs(before.x0 - after.x0) < 2 * before.size


def tidy(text: str) -> str:
    """Shorten dot leaders, mend umlauts set as two characters, squeeze spaces, turn
    lam-alef the right way round."""
    if "...." in text or ". . ." in text or "·····" in text or "_____" in text:
        text = _LEADERS.sub(" … ", text)
    if "\xa8" in text or "\u0308" in text:
        text = _LOOSE_DIAERESIS.sub("\\1\u0308", text)
    if "\u0627" in text:
        text = _TURNED_LAM_ALEF.sub("\u0627\u0644\\1", text)
    return _SPACES.sub(" ", text) if "  " in text else text


def _joint(last: Line, line: Line, block: Block) -> str:
    if is_same_row(last, line):
        return " "
    if line.is_mono and last.is_mono:
        return "\n"
    if _ITEM.match(line.text):
        return "\n"
    width = block.x1 - block.x0
    ends_short = last.x1 < block.x0 + _SHORT_LINE * width and last.x0 < block.x0 + 0.5 * width
    return "\n" if ends_short else " "
