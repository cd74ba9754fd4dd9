"""One PDF page as blocks of lines: all that is kept of PyMuPDF's page dictionary, which is read once."""

from typing import NamedTuple, TypedDict

_BOLD = 16  # PyMuPDF's span flags
_MONO = 8
_SIZE_CHANGE = 0.15
_SAME_ROW = 0.5
_MIN_IMAGE_POINTS = 8.0
_MAX_IMAGES = 100

Box = tuple[float, float, float, float]


class Span(TypedDict):
    """Text of one font, as `page.get_text("dict")` gives it."""

    text: str
    size: float
    flags: int


class RawLine(TypedDict):
    """A line of spans; `dir` is the direction of writing."""

    spans: list[Span]
    bbox: Box
    dir: tuple[float, float]


class RawBlock(TypedDict):
    """A block of lines; PyMuPDF's type 0 is text."""

    type: int
    bbox: Box
    lines: list[RawLine]


class Line(NamedTuple):
    """A line in points from the page's top left; size, weight and pitch are those of most of it."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    is_bold: bool
    is_mono: bool


class Block(NamedTuple):
    """Lines that belong together: a paragraph, a heading, a row of cells."""

    x0: float
    y0: float
    x1: float
    y1: float
    lines: tuple[Line, ...]
    size: float
    is_bold: bool

    @property
    def length(self) -> int:
        """The number of characters."""
        return sum([len(line.text) for line in self.lines])


class Page(NamedTuple):
    """What is kept of a page; numbers count from 1."""

    number: int
    width: float
    height: float
    blocks: list[Block]
    images: tuple[Box, ...]
    has_pictures: bool = False


def read_blocks(raw_blocks: list[RawBlock]) -> list[Block]:
    """Return the page's text blocks in the file's order, headings cut off the paragraphs that touch them."""
    blocks: list[Block] = []
    for raw in raw_blocks:
        if raw["type"] != 0:
            continue
        held: list[Line] = []
        for raw_line in raw["lines"]:
            line = _line(raw_line)
            if line is None:
                continue
            if held and _style_changes(held, line):
                blocks.append(block_of(held))
                held = []
            held.append(line)
        if held:
            blocks.append(block_of(held))
    return blocks


def _line(raw: RawLine) -> Line | None:
    spans = raw["spans"]
    main = spans[0]
    if len(spans) == 1:
        text = main["text"]
    else:
        text = "".join([span["text"] for span in spans])
        if spans[len(spans) // 2]["size"] != main["size"] or main["flags"] & _BOLD:
            main = max(spans, key=lambda span: len(span["text"]))
    if not text or text.isspace():
        return None
    flags = main["flags"]
    if flags & _BOLD and len(spans) > 1:  # a bold word in a line does not make a heading
        flags &= ~_BOLD if any(not span["flags"] & _BOLD and len(span["text"].strip()) > 2 for span in spans) else ~0
    return Line(text, *raw["bbox"], main["size"], bool(flags & _BOLD), bool(flags & _MONO))


def _style_changes(held: list[Line], line: Line) -> bool:
    last = held[-1]
    if is_same_row(last, line) or len(line.text) < 4 or len(last.text) < 4:
        return False
    is_other_size = abs(line.size - last.size) > _SIZE_CHANGE * last.size
    return is_other_size or (last.is_bold != line.is_bold and all(one.is_bold == last.is_bold for one in held))


def is_same_row(one: Line, other: Line) -> bool:
    """Tell whether two lines stand side by side."""
    overlap = min(one.y1, other.y1) - max(one.y0, other.y0)
    return overlap > _SAME_ROW * min(one.y1 - one.y0, other.y1 - other.y0)


def block_of(lines: list[Line]) -> Block:
    """Return the block that `lines` make, at least one."""
    main = lines[0] if len(lines) == 1 else max(lines, key=lambda line: len(line.text))
    return Block(
        min([line.x0 for line in lines]),
        min([line.y0 for line in lines]),
        max([line.x1 for line in lines]),
        max([line.y1 for line in lines]),
        tuple(lines),
        main.size,
        main.is_bold and lines[0].is_bold,
    )


def keep_images(boxes: list[Box]) -> tuple[Box, ...]:
    """Return the places of pictures that a person would call one: not rules, bullets or thousands of tiles."""
    kept = [box for box in boxes if box[2] - box[0] >= _MIN_IMAGE_POINTS and box[3] - box[1] >= _MIN_IMAGE_POINTS]
    return tuple((round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1)) for x0, y0, x1, y1 in kept[:_MAX_IMAGES])
