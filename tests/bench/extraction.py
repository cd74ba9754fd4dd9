"""How complete extracted text is and whether it keeps the reading order, against what other people hold to be right.

`python -m tests.bench.extraction DIR`, where DIR, or folders below it, has files and `expected/NAME.md` for them.
recall: share of the expected words found (as a multiset). order: the longest common subsequence of words, as a share of
the words that both texts have.
"""

import re
import sys
import unicodedata
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
    """Return the longest common subsequence of both texts as a share of the words they have in common."""
    common = sum((Counter(expected) & Counter(found)).values())
    return longest_common_subsequence(expected, found) / common if common else 1.0


def longest_common_subsequence(one: list[str], other: list[str]) -> int:
    """Return its length, bit-parallel: one addition on an integer of `len(one)` bits for each word of `other`.

    Hyyrö, Bit-parallel LCS-length computation revisited (2004).
    """
    places: dict[str, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    everything = (1 << len(one)) - 1
    row = everything
    for word in other:
        matches = row & places.get(word, 0)
        row = ((row + matches) | (row - matches)) & everything
    return len(one) - row.bit_count()


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
