"""What styles.xml and numbering.xml say of a paragraph: its heading level, and its place in a list."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from werkbank.documents.office_package import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING_NAME = re.compile(r"(?:heading|überschrift|titre|titolo|kop)\s*([1-9])$", re.I)
_PLACEHOLDER = re.compile(r"%([1-9])")
_MAX_CHAIN = 20


@dataclass(slots=True)
class Style:
    """A paragraph style, as far as structure goes; `numbering` is (numId, level), each None where not said."""

    name: str
    based_on: str | None
    outline_level: int | None
    numbering: tuple[str | None, int | None]


@dataclass(slots=True)
class _Level:
    format: str = "decimal"
    text: str = ""
    start: int = 1


def value(element: Element | None, name: str = "val") -> str | None:
    """Return a `w:` attribute of an element that may be absent."""
    return None if element is None else element.get(W + name)


def whole(text: str | None) -> int | None:
    """Return a number that a file gives, or None when it is none, or absurd."""
    return int(text) if text and re.fullmatch(r"-?\d{1,9}", text) else None


class Styles:
    """Looks properties up along the chain of styles."""

    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, Style] = {}
        for element in () if root is None else root.findall(W + "style"):
            properties = element.find(W + "pPr")
            self._styles[element.get(W + "styleId", "")] = Style(
                name=value(element.find(W + "name")) or "",
                based_on=value(element.find(W + "basedOn")),
                outline_level=outline_level(properties),
                numbering=numbering(properties),
            )

    def _chain(self, style_id: str | None) -> Iterator[Style]:
        for _ in range(_MAX_CHAIN):
            style = self._styles.get(style_id or "")
            if style is None:
                return
            yield style
            style_id = style.based_on

    def heading_level(self, style_id: str | None) -> int | None:
        """Return 1 to 9 for a heading style, 1 for the title, else None."""
        for style in self._chain(style_id):
            if style.outline_level is not None:
                return style.outline_level + 1 if style.outline_level < 9 else None
            if match := _HEADING_NAME.match(style.name):
                return int(match[1])
            if style.name.lower() in ("title", "titel"):
                return 1
        return None

    def numbering(self, style_id: str | None) -> tuple[str | None, int | None]:
        """Return (numId, level) as the styles give them."""
        found: tuple[str | None, int | None] = (None, None)
        for style in self._chain(style_id):
            found = (found[0] or style.numbering[0], style.numbering[1] if found[1] is None else found[1])
        return found


def outline_level(properties: Element | None) -> int | None:
    """Return the outline level of paragraph properties: 0 to 8 are headings, 9 is body text."""
    return None if properties is None else whole(value(properties.find(W + "outlineLvl")))


def numbering(properties: Element | None) -> tuple[str | None, int | None]:
    """Return (numId, level) of paragraph properties."""
    found = None if properties is None else properties.find(W + "numPr")
    if found is None:
        return None, None
    return value(found.find(W + "numId")), whole(value(found.find(W + "ilvl")))


@dataclass(slots=True)
class Numbering:
    """Counts the items of lists, as Word does when it shows them."""

    root: Element | None
    _levels: dict[str, dict[int, _Level]] = field(default_factory=dict)
    _abstract: dict[str, str] = field(default_factory=dict)
    _counters: defaultdict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def __post_init__(self) -> None:
        if self.root is None:
            return
        abstract = {
            item.get(W + "abstractNumId", ""): _levels_of(item) for item in self.root.findall(W + "abstractNum")
        }
        for item in self.root.findall(W + "num"):
            identifier, source = item.get(W + "numId", ""), value(item.find(W + "abstractNumId")) or ""
            overrides = _overrides_of(item)
            self._levels[identifier] = abstract.get(source, {}) | overrides
            # Lists of one definition go on counting, unless a list restarts by an override of its own.
            self._abstract[identifier] = f"{source}/{identifier}" if overrides else source

    def label(self, identifier: str, level: int) -> str | None:
        """Count one more item; return its number as shown, `-` for a bullet, None when the list is switched off."""
        levels = self._levels.get(identifier)
        if identifier == "0" or levels is None:
            return None if identifier == "0" else "-"
        level = min(max(level, 0), 8)
        counters = self._counters[self._abstract[identifier]]
        definition = levels.get(level, _Level())
        counters[level] = counters.get(level, definition.start - 1) + 1
        for deeper in [key for key in counters if key > level]:
            del counters[deeper]
        if definition.format in ("bullet", "none"):
            return "-" if definition.format == "bullet" else ""
        return _PLACEHOLDER.sub(lambda match: self._number(levels, counters, int(match[1]) - 1), definition.text)

    @staticmethod
    def _number(levels: dict[int, _Level], counters: dict[int, int], level: int) -> str:
        definition = levels.get(level, _Level())
        return format_number(counters.get(level, definition.start), definition.format)


def _levels_of(definition: Element) -> dict[int, _Level]:
    return {
        whole(level.get(W + "ilvl")) or 0: _Level(
            format=value(level.find(W + "numFmt")) or "decimal",
            text=value(level.find(W + "lvlText")) or "",
            start=_start(level.find(W + "start")),
        )
        for level in definition.findall(W + "lvl")
    }


def _start(element: Element | None) -> int:
    start = whole(value(element))
    return 1 if start is None else start


def _overrides_of(item: Element) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for override in item.findall(W + "lvlOverride"):
        levels |= _levels_of(override)
    return levels


def format_number(number: int, kind: str) -> str:
    """Write a list number as `kind` (ST_NumberFormat) says; unknown kinds are decimal."""
    if kind in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
        return letter if kind == "lowerLetter" else letter.upper()
    if kind in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        roman = _roman(number)
        return roman.lower() if kind == "lowerRoman" else roman
    return str(number)


def _roman(number: int) -> str:
    signs = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
             (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
    text = ""
    for worth, sign in signs:
        text += sign * (number // worth)
        number %= worth
    return text
