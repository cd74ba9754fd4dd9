"""The order in which a reader reads the blocks of a page.

The file's own order is nearly always right within a column and often wrong between columns, headings across them and
boxes at the side. So: find the gutters, vertical strips that almost no line covers and that have columns of prose on
both sides; blocks across a gutter cut the page into bands; within a band the columns are read one after the other (from
the right where the text runs that way). Columns that are too thin, too short or too ragged to be prose are the cells of
a table: they make no gutter, and the file's order stands unless it jumps about.
"""

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

from werkbank.documents.pdf_page import Block, Line, Page, block_of

_GRID = 2  # points
_MIN_GUTTER = 6  # points; typographers leave 12 and more, justified text overshoots a little
_MAX_COVER = 0.34  # of the lines at the page's most crowded place may run across a gutter: headings, a wide figure
_MIN_COLUMN_SHARE = 0.12  # of the page's width
_MIN_COLUMN_LINES = 4
_MIN_PROSE_CHARACTERS = 14  # on average in a line of a column
_MIN_LINE_CHARACTERS = 4  # shorter ones are bullets, numbers and boxes to tick
_FILLED_LINE = 0.7  # of the column's width
_MAX_JUMPS = 2
_MAX_WIDTH = 20_000
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")

Gutter = tuple[int, int]


def reading_order(page: Page) -> list[Block]:
    """Return the page's blocks in the order of reading."""
    gutters = find_gutters(page.blocks, page.width)
    if not gutters:
        return _row_order(page.blocks)
    from_right = _runs_from_right(page.blocks)
    ordered: list[Block] = []
    band: list[Block] = []
    pieces = [piece for block in page.blocks for piece in _split(block, gutters)]
    crossing = sorted((piece for piece in pieces if _crosses(piece, gutters)), key=lambda piece: piece.y0)
    within = [piece for piece in pieces if not _crosses(piece, gutters)]
    for block in crossing:
        band = [piece for piece in within if piece.y0 < block.y0]
        within = [piece for piece in within if piece.y0 >= block.y0]
        ordered += [*_read_band(band, gutters, from_right), block]
    return ordered + _read_band(within, gutters, from_right)


def find_gutters(blocks: Sequence[Block], page_width: float) -> list[Gutter]:
    """Return the vertical strips (left, right) between columns of prose, from left to right, in points."""
    lines = [line for block in blocks for line in block.lines]
    if len(lines) < 2 * _MIN_COLUMN_LINES:
        return []
    cells = int(min(max(page_width, 1), _MAX_WIDTH)) // _GRID + 2
    steps = [0] * cells
    for line in lines:
        steps[min(max(int(line.x0) // _GRID, 0), cells - 1)] += 1
        steps[min(max(int(line.x1) // _GRID, 0), cells - 1)] -= 1
    cover = list(accumulate(steps))
    allowed = max(cover) * _MAX_COVER
    covered = [cell for cell, count in enumerate(cover) if count > allowed]
    strips = [
        ((left + 1) * _GRID, right * _GRID)
        for left, right in pairwise(covered)
        if (right - left - 1) * _GRID >= _MIN_GUTTER
    ]
    return [strip for strip in strips if _divides(lines, strip, page_width)]


def _divides(lines: Sequence[Line], strip: Gutter, page_width: float) -> bool:
    """Tell whether a strip has columns of prose on both sides that stand beside each other."""
    left = [line for line in lines if line.x1 <= strip[0] + 1]
    right = [line for line in lines if line.x0 >= strip[1] - 1]
    if not (_is_column(left, page_width) and _is_column(right, page_width)):
        return False
    top = max(min(line.y0 for line in left), min(line.y0 for line in right))
    bottom = min(max(line.y1 for line in left), max(line.y1 for line in right))
    return bottom - top > 3 * left[0].size


def _is_column(lines: Sequence[Line], page_width: float) -> bool:
    """Tell prose from the cells of a table: enough lines, long ones, and many of them as wide as the column."""
    lines = [line for line in lines if len(line.text) >= _MIN_LINE_CHARACTERS]
    if len(lines) < _MIN_COLUMN_LINES or sum(len(line.text) for line in lines) < _MIN_PROSE_CHARACTERS * len(lines):
        return False
    widths = sorted(line.x1 - line.x0 for line in lines)
    usual = widths[int(0.9 * (len(widths) - 1))]  # a heading across two further columns must not set the measure
    filled = sum(width >= _FILLED_LINE * usual for width in widths)
    return usual >= _MIN_COLUMN_SHARE * page_width and filled * 3 >= len(lines)


def _crosses(block: Block | Line, gutters: Sequence[Gutter]) -> bool:
    return any(block.x0 < left - 1 and block.x1 > right + 1 for left, right in gutters)


def _column(block: Block | Line, gutters: Sequence[Gutter]) -> int:
    middle = (block.x0 + block.x1) / 2
    return sum(middle > (left + right) / 2 for left, right in gutters)


def _split(block: Block, gutters: Sequence[Gutter]) -> list[Block]:
    """Take apart a block that holds lines of several columns, but none across them."""
    if not _crosses(block, gutters) or any(_crosses(line, gutters) for line in block.lines):
        return [block]
    columns: dict[int, list[Line]] = {}
    for line in block.lines:
        columns.setdefault(_column(line, gutters), []).append(line)
    return [block_of(lines) for lines in columns.values()]


def _read_band(band: list[Block], gutters: Sequence[Gutter], from_right: bool) -> list[Block]:
    columns: list[list[Block]] = [[] for _ in range(len(gutters) + 1)]
    for block in band:
        columns[_column(block, gutters)].append(block)
    if from_right:
        columns.reverse()
    return [block for column in columns for block in _row_order(column)]


def _row_order(blocks: list[Block]) -> list[Block]:
    """Keep the file's order unless it jumps back up the page often; then go from top to bottom, row by row."""
    jumps = sum(later.y1 <= earlier.y0 for earlier, later in pairwise(blocks))
    if jumps <= _MAX_JUMPS:
        return blocks
    rows: list[list[Block]] = []
    for block in sorted(blocks, key=lambda block: block.y0):
        if rows and _is_beside(rows[-1][0], block):
            rows[-1].append(block)
        else:
            rows.append([block])
    from_right = _runs_from_right(blocks)
    return [block for row in rows for block in sorted(row, key=lambda block: -block.x1 if from_right else block.x0)]


def _is_beside(one: Block, other: Block) -> bool:
    overlap = min(one.y1, other.y1) - max(one.y0, other.y0)
    is_clear = other.x0 >= one.x1 - 1 or other.x1 <= one.x0 + 1
    return is_clear and overlap > 0.5 * min(one.y1 - one.y0, other.y1 - other.y0)


def _runs_from_right(blocks: list[Block]) -> bool:
    sample = "".join(line.text for block in blocks[:20] for line in block.lines)[:2_000]
    return not sample.isascii() and len(_RIGHT_TO_LEFT.findall(sample)) * 3 > len(sample)
