"""Plain text, Markdown and CSV."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice

from werkbank.documents.builder import MAX_OBJECT_CHARACTERS, DocumentBuilder
from werkbank.documents.characters import clean_text
from werkbank.documents.detect import CSV, MARKDOWN, PLAIN
from werkbank.documents.encoding import decode_text
from werkbank.documents.tables import markdown_table
from werkbank.domain.documents import ExtractedDocument
from werkbank.domain.errors import DocumentError

_ROWS_PER_OBJECT = 100
_DELIMITERS = ",;\t|"
_ATX_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_SETEXT_RULE = re.compile(r" {0,3}(=+|-{3,})\s*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")


def extract_plain(data: bytes, file_name: str) -> ExtractedDocument:
    """Read plain text (also JSON and XML, as they stand); objects end at empty lines and name their lines."""
    lines = clean_text(decode_text(data)).split("\n")
    builder = DocumentBuilder(file_name, PLAIN)
    start, size = 0, 0
    for number, line in enumerate(lines):
        size += len(line) + 1
        is_full = size > MAX_OBJECT_CHARACTERS * 2 or (size > MAX_OBJECT_CHARACTERS // 2 and not line.strip())
        if is_full or number == len(lines) - 1:
            _add_lines(builder, lines, start, number + 1)
            start, size = number + 1, 0
    return builder.build()


def _add_lines(builder: DocumentBuilder, lines: list[str], start: int, end: int) -> None:
    text = "\n".join(lines[start:end])
    if text.strip():
        builder.add_object("text", text.strip("\n"), f"lines {start + 1}–{end}")


def extract_markdown(data: bytes, file_name: str) -> ExtractedDocument:
    """Read Markdown (CommonMark headings, GitHub tables): headings open sections, tables stand alone."""
    builder = DocumentBuilder(file_name, MARKDOWN)
    for kind, text, level in _markdown_blocks(clean_text(decode_text(data)).split("\n")):
        if kind == "heading":
            builder.heading(text, level)
        elif kind == "table":
            builder.table(text)
        else:
            builder.paragraph(text)
    return builder.build()


def _markdown_blocks(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """Yield (kind, text, heading level) for each block: a heading, a table, a fenced block or a paragraph."""
    held: list[str] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        following = lines[position + 1] if position + 1 < len(lines) else ""
        if fence := _FENCE.match(line):
            yield from _paragraph(held)
            end = _end_of_fence(lines, position, fence[1])
            yield "text", "\n".join(lines[position:end]), 0
            position = end
        elif heading := _ATX_HEADING.match(line):
            yield from _paragraph(held)
            yield "heading", heading[2], len(heading[1])
            position += 1
        elif line.strip() and not held and (rule := _SETEXT_RULE.match(following)):
            yield "heading", line, 1 if rule[1][0] == "=" else 2
            position += 2
        elif "|" in line and "|" in following and _TABLE_RULE.match(following):
            yield from _paragraph(held)
            end = position
            while end < len(lines) and "|" in lines[end]:
                end += 1
            yield "table", "\n".join(lines[position:end]), 0
            position = end
        else:
            if not line.strip():
                yield from _paragraph(held)
            else:
                held.append(line)
            position += 1
    yield from _paragraph(held)


def _paragraph(held: list[str]) -> Iterator[tuple[str, str, int]]:
    if held:
        yield "text", "\n".join(held), 0
        held.clear()


def _end_of_fence(lines: list[str], start: int, mark: str) -> int:
    for position in range(start + 1, len(lines)):
        if lines[position].strip().startswith(mark):
            return position + 1
    return len(lines)


def extract_csv(data: bytes, file_name: str) -> ExtractedDocument:
    """Read a CSV of any usual delimiter and encoding; 100 rows an object, the header repeated, rows numbered from 1."""
    text = clean_text(decode_text(data))
    delimiter = sniff_delimiter(text, file_name)
    rows = _rows(text, delimiter)
    if not rows:
        raise DocumentError("The table has no rows.")
    width = max(map(len, rows))
    header = rows[0] + [""] * (width - len(rows[0]))
    builder = DocumentBuilder(file_name, CSV)
    for start in range(1, max(len(rows), 2), _ROWS_PER_OBJECT):
        part = rows[start : start + _ROWS_PER_OBJECT]
        label = f"rows {start + 1}–{start + len(part)}" if part else "row 1"
        builder.table(markdown_table([header, *part]), label)
    return builder.build({"rows": len(rows), "columns": width, "delimiter": delimiter})


def _rows(text: str, delimiter: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    except csv.Error:  # a quote that is never closed swallows the file: take quotes as plain characters
        lines = (line.split(delimiter) for line in text.split("\n"))
        return [row for row in lines if any(row)]


def sniff_delimiter(text: str, file_name: str = "") -> str:
    """Return the delimiter that cuts the first 100 rows into the most, and most regular, fields."""
    if file_name.lower().endswith((".tsv", ".tab")):
        return "\t"
    sample = text[:100_000]
    return max(_DELIMITERS, key=lambda delimiter: _regularity(sample, delimiter))


def _regularity(sample: str, delimiter: str) -> tuple[float, int]:
    try:
        widths = [len(row) for row in islice(csv.reader(io.StringIO(sample), delimiter=delimiter), 100) if row]
    except csv.Error:
        return 0.0, 0
    if not widths or max(widths) == 1:
        return 0.0, 0
    usual = max(set(widths), key=widths.count)
    return (widths.count(usual) / len(widths) if usual > 1 else 0.0), usual
