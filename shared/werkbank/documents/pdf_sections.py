"""The pre-scan of a PDF (DO-03): its headings, sections and page map, from the outline or from font sizes."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from werkbank.documents.builder import MAX_HEADING_LEVEL, MAX_TITLE_CHARACTERS
from werkbank.documents.characters import squeeze
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
_REPEATED_SHARE = 0.4  # heads that differ on left and right pages stand on nearly half of them

OutlineEntry = tuple[int, str, int]


@dataclass(slots=True)
class Headings:
    """Which blocks are headings and of which level."""

    body_size: float
    levels: dict[float, int]

    def level(self, block: Block) -> int | None:
        """Return the level of a heading, None for anything else."""
        lines = block.lines
        if len(lines) > _MAX_HEADING_LINES or block.size < self.body_size * 0.98:
            return None
        size = _rounded(block.size)
        if size not in self.levels or not (block.is_bold or block.size >= self.body_size * _LARGER):
            return None
        text = heading_text(block)
        if len(text) > _MAX_HEADING_CHARACTERS or not _HAS_WORD.search(text) or lines[0].is_mono:
            return None
        is_sentence = text.endswith((".", ",", ";", ":")) and size == _rounded(self.body_size)
        return None if is_sentence else self.levels[size]


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

    def open(self, title: str, level: int, page: int) -> None:
        """Begin a section."""
        if len(self.sections) < _MAX_SECTIONS:
            identifier = f"s{len(self.sections) + 1}"
            title = title[:MAX_TITLE_CHARACTERS]
            self.sections.append(Section(id=identifier, title=title, level=max(1, level), start_page=page))


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
    open_ends: list[tuple[int, int]] = []  # (level, last page) of the sections after this one, innermost last
    for section in reversed(sections):
        end = last_page.get(section.id, section.start_page or 1)
        while open_ends and open_ends[-1][0] > section.level:
            end = max(end, open_ends.pop()[1])
        open_ends.append((section.level, end))
        complete.append(section.model_copy(update={"end_page": end, "start_sequence": first.get(section.id)}))
    return tuple(reversed(complete))
