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
    pending: dict[int, tuple[int, str]] = {}  # column → (rows still covered from above, text)
    grid: list[list[str]] = []
    for row in rows:
        fields: list[str] = []
        below: dict[int, tuple[int, str]] = {}

        def take_from_above(fields: list[str] = fields, below: dict[int, tuple[int, str]] = below) -> None:
            while (column := len(fields)) in pending:
                left, text = pending.pop(column)
                fields.append(text)
                if left > 1:
                    below[column] = (left - 1, text)

        for cell in row:
            take_from_above()
            columns = max(1, min(cell.columns, MAX_SPAN, copies_left))
            covered = max(1, min(cell.rows, len(rows)))
            copies_left -= columns - 1
            for _ in range(columns):
                if covered > 1:
                    below[len(fields)] = (covered - 1, cell.text)
                fields.append(cell.text)
        take_from_above()
        for column, (left, text) in pending.items():  # a short row leaves fields from above beyond its end
            fields.extend("" for _ in range(column + 1 - len(fields)))
            fields[column] = text
            if left > 1:
                below[column] = (left - 1, text)
        pending = below
        grid.append(fields)
    return grid


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
