"""The pre-scan of a PDF (DO-03): its headings, sections and page map, from the outline or from font sizes."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from werkbank.documents.builder import MAX_HEADING_LEVEL, MAX_TITLE_CHARACTERS
from werkbank.documents.characters import squeeze
from werkbank.documents.pdf_file import OutlineEntry
from werkbank.documents.pdf_page import Block, Page
from werkbank.domain.documents import ContentObject, Section

_LARGER = 1.12
_MAX_HEADING_CHARACTERS = 160
_MAX_HEADING_LINES = 3
_MAX_SECTIONS = 5_000
_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_TOKENS = re.compile(r"[^\W_]+")
_MARGIN = 0.12
_MIN_PAGES_FOR_REPEATS = 3
_MIN_RUNNING_HEAD = 4
_REPEATED_SHARE = 0.4  # heads that differ on left and right pages stand on nearly half of them


@dataclass(slots=True)
class Headings:
    """Which blocks are headings and of which level."""

    body_size: float
    levels: dict[float, int]

    def level(self, block: Block, neighbours: Sequence[Block]) -> int | None:
        """Return the level of a heading, None for anything else; `neighbours` are all blocks of its page."""
        lines = block.lines
        if len(lines) > _MAX_HEADING_LINES or block.size < self.body_size * 0.98:
            return None
        size = _rounded(block.size)
        if size not in self.levels or not (block.is_bold or block.size >= self.body_size * _LARGER):
            return None
        text = heading_text(block)
        if len(text) > _MAX_HEADING_CHARACTERS or not _HAS_WORD.search(text) or lines[0].is_mono:
            return None
        if size == _rounded(self.body_size) and (
            text.endswith((".", ",", ";", ":")) or any(_is_beside(block, other) for other in neighbours)
        ):
            return None  # a bold sentence, or a label with its value beside it
        return self.levels[size]


def _is_beside(block: Block, other: Block) -> bool:
    overlap = min(block.y1, other.y1) - max(block.y0, other.y0)
    return other is not block and overlap > (block.y1 - block.y0) / 2 and len(other.lines) <= len(block.lines)


def heading_text(block: Block) -> str:
    """Return the text of a short block on one line."""
    return squeeze(" ".join([line.text for line in block.lines]))


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def find_headings(pages: Sequence[Page]) -> Headings:
    """Learn from the whole document which font size is the body's, and which sizes rank above it."""
    characters: Counter[float] = Counter()
    for page in pages:
        for block in page.blocks:
            characters[_rounded(block.size)] += block.length
    body = characters.most_common(1)[0][0] if characters else 0.0
    larger = sorted({size for size in characters if size >= body * _LARGER}, reverse=True)
    levels = {size: min(rank, MAX_HEADING_LEVEL - 1) for rank, size in enumerate(larger, 1)}
    levels[body] = min(len(larger) + 1, MAX_HEADING_LEVEL)
    return Headings(body, levels)


def repeated_margins(pages: Sequence[Page]) -> set[str]:
    """Return the texts (digits as #) at the top or foot of most pages: running heads, page numbers."""
    if len(pages) < _MIN_PAGES_FOR_REPEATS:
        return set()
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({margin_key(block) for block in page.blocks if is_in_margin(block, page)})
    needed = max(_MIN_PAGES_FOR_REPEATS, _REPEATED_SHARE * len(pages))
    return {key for key, count in counts.items() if count >= needed}


def is_in_margin(block: Block, page: Page) -> bool:
    """Tell whether a short block stands in the page's upper or lower margin."""
    if len(block.lines) > 3:
        return False
    return block.y1 < _MARGIN * page.height or block.y0 > (1 - _MARGIN) * page.height


def margin_key(block: Block) -> str:
    """Return a block's text with every number the same."""
    return re.sub(r"\d+", "#", heading_text(block))[:200]


@dataclass(slots=True)
class SectionTracker:
    """Opens sections while the blocks are read in order: at outline entries if there are any, else at headings."""

    outline: dict[int, list[OutlineEntry]]
    sections: list[Section] = field(default_factory=list)
    first_pages: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        last_first = [entry for page in sorted(self.outline, reverse=True) for entry in self.outline[page]]
        self.first_pages = {_letters(title): page for _, title, page in last_first}

    @classmethod
    def of(cls, outline: Sequence[OutlineEntry], page_count: int) -> "SectionTracker":
        """Sort the outline's entries by page; entries that point nowhere count for the page of the one before."""
        by_page: dict[int, list[OutlineEntry]] = {}
        page = 1
        for level, title, target in outline[:_MAX_SECTIONS]:
            page = target if 1 <= target <= page_count else page
            if title := squeeze(title)[:MAX_TITLE_CHARACTERS]:
                by_page.setdefault(page, []).append((level, title, page))
        return cls(by_page)

    @property
    def current(self) -> Section | None:
        """The section that the text now read belongs to."""
        return self.sections[-1] if self.sections else None

    def entries_starting_at(self, page: int, block_texts: Sequence[str]) -> dict[int, list[OutlineEntry]]:
        """Return the outline's entries of a page by the index of the block that is their heading (0 if none is)."""
        found: dict[int, list[OutlineEntry]] = {}
        position = 0
        for entry in self.outline.get(page, ()):
            wanted = _key(entry[1])
            candidates = range(position, len(block_texts))
            position = next((i for i in candidates if _matches(wanted, block_texts[i])), position)
            found.setdefault(position, []).append(entry)
        return found

    def is_running_head(self, text: str, page: int) -> bool:
        """Tell whether a text in the margin only repeats the title of a section that began on an earlier page."""
        wanted = _letters(text)
        if len(wanted) < _MIN_RUNNING_HEAD:
            return False
        return self.first_pages.get(wanted, page) < page

    def open(self, title: str, level: int, page: int) -> None:
        """Begin a section."""
        if len(self.sections) < _MAX_SECTIONS:
            identifier = f"s{len(self.sections) + 1}"
            title = title[:MAX_TITLE_CHARACTERS]
            self.sections.append(Section(id=identifier, title=title, level=max(1, level), start_page=page))


def _letters(text: str) -> str:
    return re.sub(r"[\W\d_]+", "", text.lower())


def _key(text: str) -> str:
    return "".join(_TOKENS.findall(text.lower()))


def _matches(wanted: str, block_text: str) -> bool:
    """Tell whether a block is the heading `wanted`; either may lack the number."""
    if not block_text or len(block_text) > 2 * _MAX_HEADING_CHARACTERS:
        return False
    own = _key(block_text)
    bare_wanted, bare_own = wanted.lstrip("0123456789"), own.lstrip("0123456789")
    return bool(own) and (
        own == wanted or (bool(bare_own) and bare_own == bare_wanted) or own.endswith(bare_wanted or wanted)
    )


def with_spans(sections: Sequence[Section], objects: Sequence[ContentObject]) -> tuple[Section, ...]:
    """Complete sections by where their content, subsections included, begins and ends."""
    first: dict[str, int] = {}
    last_page: dict[str, int] = {}
    for item in objects:
        if (identifier := item.ref.section_id) is not None:
            first.setdefault(identifier, item.sequence)
            last_page[identifier] = item.ref.page_index or 1
    complete: list[Section] = []
    following: list[tuple[int, int | None, int]] = []  # (level, start, end) of the sections after this, innermost last
    for section in reversed(sections):
        start, end = first.get(section.id), last_page.get(section.id, section.start_page or 1)
        while following and following[-1][0] > section.level:
            _, inner_start, inner_end = following.pop()
            start, end = (inner_start if start is None else start), max(end, inner_end)
        following.append((section.level, start, end))
        complete.append(section.model_copy(update={"end_page": end, "start_sequence": start}))
    return tuple(reversed(complete))
