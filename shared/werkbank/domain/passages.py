"""Numbered passages as models read and cite them: `[3] report.pdf, page 5`, then the text, then a blank line.

One format for tool results and for the knowledge that goes with a question; one parser for those that read it back.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_BLANK_LINES = re.compile(r"(?:[ \t]*[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029])+")
_HEADER = re.compile(r"(?:\A|(?<=\n\n))\[(\d{1,6})\] ([^\n]+)(?:\n|\Z)")
# What may follow the last passage: the end of the blocks it stands in.
_END_OF_BLOCK = re.compile(r"(?:\n+</[a-z]+>)+\s*\Z")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a file: the number it is cited by, where it stands (`report.pdf, page 5`), and its text."""

    number: int
    place: str
    text: str


def format_passages(passages: Iterable[Passage]) -> str:
    """Write passages for a model. Blank lines within a text go, so that no text can pass for the next passage."""
    return "\n\n".join(
        f"[{passage.number}] {_one_line(passage.place)}\n{_without_blank_lines(passage.text)}" for passage in passages
    )


def parse_passages(text: str) -> tuple[Passage, ...]:
    """Read the passages back from any text that holds some; what stands before the first is left out."""
    normal = _END_OF_BLOCK.sub("", text.replace("\r\n", "\n"))
    headers = list(_HEADER.finditer(normal))
    starts = [header.start() for header in headers] + [len(normal)]
    return tuple(
        Passage(int(header[1]), header[2].strip(), normal[header.end() : end].strip())
        for header, end in zip(headers, starts[1:], strict=True)
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _without_blank_lines(text: str) -> str:
    return _BLANK_LINES.sub("\n", text).strip()
