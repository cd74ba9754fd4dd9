"""The order in which a reader reads the blocks of a page.

The file's own order is nearly always right within a column and often wrong between columns, headings across them and
boxes at the side. So: find the gutters that run through a good part of the page; blocks across a gutter cut the page
into bands; within a band the columns are read one after the other (from the right where the text runs that way).
Bands whose “columns” are too narrow or too thin to be prose are tables: they are read row by row.
"""

import re
from itertools import pairwise

from werkbank.documents.pdf_page import Block, Page

_MIN_GUTTER = 6.0  # points; typographers leave 12 and more, justified text overshoots a little
_MIN_COLUMN_SHARE = 0.12  # of the page's width
_MIN_COLUMN_LINES = 4
_MIN_PROSE_CHARACTERS = 14  # on average in a line of a column
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


def reading_order(page: Page) -> list[Block]:
    """Return the page's blocks in the order of reading."""
    blocks = page.blocks
    if len(blocks) < 3:
        return _row_order(blocks)
    gutters = find_gutters(blocks, page.width)
    if not gutters:
        return _row_order(blocks)
    from_right = _runs_from_right(blocks)
    ordered: list[Block] = []
    band: list[Block] = []
    for block in sorted(blocks, key=lambda block: block.y0):
        if any(block.x0 < left - 1 and block.x1 > right + 1 for left, right in gutters):
            ordered += _read_band(band, gutters, from_right)
            ordered.append(block)
            band = []
        else:
            band.append(block)
    return ordered + _read_band(band, gutters, from_right)


def find_gutters(blocks: list[Block], page_width: float) -> list[tuple[float, float]]:
    """Return the vertical strips (left, right) between columns of prose, from left to right."""
    prose = [block for block in blocks if block.x1 - block.x0 < 0.62 * page_width]
    edges = sorted((block.x0, block.x1) for block in prose if _is_prose(block))
    gutters: list[tuple[float, float]] = []
    reach = None
    for x0, x1 in edges:
        if reach is not None and x0 - reach >= _MIN_GUTTER:
            gutters.append((reach, x0))
        reach = x1 if reach is None else max(reach, x1)
    return [gutter for gutter in gutters if _divides(prose, gutter, page_width)]


def _is_prose(block: Block) -> bool:
    return len(block.lines) >= 2 and block.length >= _MIN_PROSE_CHARACTERS * len(block.lines)


def _divides(blocks: list[Block], gutter: tuple[float, float], page_width: float) -> bool:
    """Tell whether a strip has columns of prose on both sides that stand beside each other."""
    left = [block for block in blocks if block.x1 <= gutter[0] + 1]
    right = [block for block in blocks if block.x0 >= gutter[1] - 1]
    if not (_is_column(left, page_width) and _is_column(right, page_width)):
        return False
    top = max(min(block.y0 for block in left), min(block.y0 for block in right))
    bottom = min(max(block.y1 for block in left), max(block.y1 for block in right))
    return bottom - top > 3 * left[0].size


def _is_column(blocks: list[Block], page_width: float) -> bool:
    lines = sum(len(block.lines) for block in blocks)
    if lines < _MIN_COLUMN_LINES:
        return False
    is_wide = max(block.x1 - block.x0 for block in blocks) >= _MIN_COLUMN_SHARE * page_width
    return is_wide and sum(block.length for block in blocks) >= _MIN_PROSE_CHARACTERS * lines


def _read_band(band: list[Block], gutters: list[tuple[float, float]], from_right: bool) -> list[Block]:
    middles = [(left + right) / 2 for left, right in gutters]
    columns: list[list[Block]] = [[] for _ in range(len(gutters) + 1)]
    for block in band:
        middle = (block.x0 + block.x1) / 2
        columns[sum(middle > edge for edge in middles)].append(block)
    if not any(_is_prose(block) for block in band):
        return _row_order(band)
    if from_right:
        columns.reverse()
    return [block for column in columns for block in _row_order(column)]


def _row_order(blocks: list[Block]) -> list[Block]:
    """Keep the file's order unless it jumps back up the page; then go from top to bottom, rows from left to right."""
    if all(later.y1 > earlier.y0 for earlier, later in pairwise(blocks)):
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
