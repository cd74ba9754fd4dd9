"""Tables as Markdown, from rows of cells that may span several rows and columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from werkbank.documents.characters import squeeze

MAX_SPAN = 1_000  # the HTML standard's own limit for colspan
_MAX_COPIES = 20_000  # spans of a hostile file would multiply its text without bound


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text and how many columns and rows it covers."""

    text: str
    columns: int = 1
    rows: int = 1


def expand_spans(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Lay cells out on a grid; a spanning cell's text stands in every field it covers, so that each row reads alone."""
    copies_left = _MAX_COPIES
    grid: list[dict[int, str]] = [{} for _ in rows]
    for top, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in grid[top]:  # covered from above
                column += 1
            width, height = max(1, min(cell.columns, MAX_SPAN)), max(1, min(cell.rows, len(rows) - top))
            copies_left -= width * height - 1
            if copies_left < 0:
                width = height = 1
            for covered in grid[top : top + height]:
                covered.update(dict.fromkeys(range(column, column + width), cell.text))
            column += width
    return [[fields.get(column, "") for column in range(max(fields, default=-1) + 1)] for fields in grid]


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose first row is the header; ragged rows are padded, empty rows left out.

    Returns an empty string when no field has text.
    """
    cleaned = [[squeeze(field).replace("|", "\\|") for field in row] for row in rows]
    cleaned = [row for row in cleaned if any(row)]
    if not cleaned:
        return ""
    width = max(map(len, cleaned))
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in cleaned]
    return "\n".join([lines[0], "|" + " - |" * width, *lines[1:]])
