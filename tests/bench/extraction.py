"""How complete extracted text is and whether it keeps the reading order, against what other people hold to be right.

`python -m tests.bench.extraction DIR`, where DIR, or folders below it, has files and `expected/NAME.md` for them.
recall: share of the expected words found (as a multiset). order: share of the words, among those that stand exactly
once in both texts, that keep their relative order (longest increasing subsequence).
"""

import re
import sys
import unicodedata
from bisect import bisect_left
from collections import Counter
from pathlib import Path
from statistics import fmean

from werkbank.documents.detect import detect_mime_type
from werkbank.documents.extract import EXTRACTORS, extract_document
from werkbank.domain.errors import DocumentError

_COMMENT = re.compile(r"<!--.*?-->", re.S)
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\]|\\.)*)\]\((?:[^()\s]|\([^()]*\))*\)")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_CHECKBOX = re.compile(r"^(\s*-) \[[ x]\]", re.M)
_WORD = re.compile(r"[^\W_]+")


def words_of(markdown: str) -> list[str]:
    """Return the words of a Markdown text: lower-case letters and digits, without markup, comments and link targets."""
    text = _CHECKBOX.sub(r"\1", _COMMENT.sub(" ", markdown))
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def recall(expected: list[str], found: list[str]) -> float:
    """Return the share of the `expected` words that are in `found`, each counted as often as it occurs."""
    return sum((Counter(expected) & Counter(found)).values()) / len(expected) if expected else 1.0


def order(expected: list[str], found: list[str]) -> float:
    """Return the share of the words unique to both texts that stand in the same order in both."""
    places = {word: place for place, word in enumerate(found)}
    in_found = Counter(found)
    sequence = [
        places[word] for word, count in Counter(expected).items() if count == 1 and in_found.get(word) == 1
    ]  # a Counter keeps the order of first occurrence
    return longest_increasing(sequence) / len(sequence) if sequence else 1.0


def longest_increasing(sequence: list[int]) -> int:
    """Return the length of the longest increasing subsequence (patience sorting, O(n log n))."""
    tops: list[int] = []
    for value in sequence:
        place = bisect_left(tops, value)
        tops[place : place + 1] = [value]
    return len(tops)


def main(folder: Path) -> int:
    """Print a line per file and the means; return the exit code."""
    recalls: list[float] = []
    orders: list[float] = []
    for reference in sorted(folder.rglob("expected/*.md")):
        source = reference.parent.parent / reference.name.removesuffix(".md")
        name = source.relative_to(folder)
        if not source.is_file():
            print(f"{name} missing")
            continue
        data = source.read_bytes()
        try:
            document = extract_document(data, source.name)
        except DocumentError as error:
            if _is_unsupported(data, source.name):
                print(f"{name} unsupported")
                continue
            print(f"{name} failed: {error}")
            recalls.append(0.0)
            orders.append(0.0)
            continue
        expected = words_of(reference.read_text("utf-8"))
        found = words_of("\n\n".join(item.data for item in document.objects))
        recalls.append(recall(expected, found))
        orders.append(order(expected, found))
        print(f"{name} recall {recalls[-1]:.3f} order {orders[-1]:.3f}")
    print(f"recall {_mean(recalls):.3f} order {_mean(orders):.3f} files {len(recalls)}")
    return 0 if recalls else 1


def _is_unsupported(data: bytes, name: str) -> bool:
    try:
        return detect_mime_type(data, name) not in EXTRACTORS
    except DocumentError:
        return False


def _mean(values: list[float]) -> float:
    return fmean(values) if values else 0.0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.bench.extraction DIR")
    sys.exit(main(Path(sys.argv[1])))
