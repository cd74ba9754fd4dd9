"""Word documents (ECMA-376 WordprocessingML), read straight from their XML: strict files, missing parts and all."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from werkbank.documents.builder import DocumentBuilder
from werkbank.documents.characters import squeeze
from werkbank.documents.detect import DOCX
from werkbank.documents.docx_inline import InlineReader
from werkbank.documents.docx_styles import Numbering, Styles, W, numbering, outline_level, value, whole
from werkbank.documents.office_package import Element, OfficePackage
from werkbank.documents.tables import Cell, expand_spans, markdown_table
from werkbank.domain.documents import ExtractedDocument
from werkbank.domain.errors import DocumentError

_LAYOUT_CELL_CHARACTERS = 2_000
_WRAPPERS = frozenset(
    ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag", "body", "AlternateContent", "Choice")
)
_CORE_PROPERTIES = {"title": "title", "creator": "author", "created": "created", "modified": "modified"}
_DOCUMENT = "word/document.xml"


def extract_docx(data: bytes, file_name: str) -> ExtractedDocument:
    """Read headings, paragraphs, lists with their numbers, tables, equations, text boxes, foot- and endnotes, page
    headers and footers (once each) of a Word document, in the order of its body.

    Raises DocumentError for cut-off, encrypted or damaged files and ZIP bombs.
    """
    package = OfficePackage(data)
    main = package.target_of_type("", "officeDocument") or _DOCUMENT
    root = package.xml(main if main in package else _DOCUMENT)
    body = None if root is None else root.find(W + "body")
    if body is None:
        raise DocumentError("The file is damaged: the document's text itself is missing. Save it again in Word.")
    reader = _Reader(package, main, DocumentBuilder(file_name, DOCX))
    reader.page_parts("header")
    reader.blocks(body)
    reader.notes_in_hand()
    reader.page_parts("footer")
    return reader.builder.build(_core_properties(package))


def _core_properties(package: OfficePackage) -> dict[str, JsonValue]:
    root = package.xml(package.target_of_type("", "core-properties") or "docProps/core.xml")
    found = {} if root is None else {item.tag.rpartition("}")[2]: squeeze(item.text or "") for item in root}
    return {ours: found[theirs] for theirs, ours in _CORE_PROPERTIES.items() if found.get(theirs)}


def local_name(element: Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2]


@dataclass
class _Reader:
    """Walks the body; nesting is bounded by the parser."""

    package: OfficePackage
    main: str
    builder: DocumentBuilder
    styles: Styles = field(init=False)
    lists: Numbering = field(init=False)
    inline: InlineReader = field(init=False)

    def __post_init__(self) -> None:
        self.styles = Styles(self._part("styles"))
        self.lists = Numbering(self._part("numbering"))
        self.inline = InlineReader({kind: self._notes(kind) for kind in ("footnote", "endnote")})

    def _part(self, kind: str) -> Element | None:
        target = self.package.target_of_type(self.main, kind)
        return self.package.xml(target) if target else None

    def _notes(self, kind: str) -> dict[str, Element]:
        root = self._part(kind + "s")
        return {} if root is None else {note.get(W + "id", ""): note for note in root.findall(W + kind)}

    def blocks(self, parent: Element) -> None:
        """Add every paragraph and table below `parent`."""
        for element in parent:
            name = local_name(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name in _WRAPPERS:
                self.blocks(element)

    def page_parts(self, kind: str) -> None:
        """Add the texts of all page headers (or footers), each different one once."""
        seen: set[str] = set()
        for target in self.package.relationships(self.main).values():
            root = self.package.xml(target) if f"/{kind}" in f"/{target.rpartition('/')[2]}" else None
            text = "" if root is None else self._flat(root)
            if text and text not in seen and not text.isdecimal():
                seen.add(text)
                self.builder.flush()
                self.builder.add_object("text", text, kind, {"kind": kind})

    def notes_in_hand(self) -> None:
        """Add the foot- and endnotes referred to since the last call, so that they stand with their section."""
        for label, note in self.inline.take_notes():
            self.builder.paragraph(f"[{label}] {self._flat(note)}")

    def _paragraph(self, element: Element) -> None:
        properties = element.find(W + "pPr")
        style = None if properties is None else value(properties.find(W + "pStyle"))
        text = self.inline.text(element)
        label, level = self._list_place(properties, style) if text.strip() else (None, 0)
        heading = self._heading_level(properties, style)
        if heading and text.strip():
            self.notes_in_hand()
            self.builder.heading(f"{label} {text}" if label and label != "-" else text, heading)
        elif label is not None:
            self.builder.line(f"{'    ' * level}{label} {text}".rstrip())
        else:
            self.builder.paragraph(text)
        self._attached()

    def _attached(self) -> None:
        """Add pictures and text boxes that were anchored in what was just read."""
        for picture in self.inline.take_pictures():
            self.builder.image(picture.label, picture.metadata())
        for box in self.inline.take_boxes():
            self.blocks(box)

    def _heading_level(self, properties: Element | None, style: str | None) -> int | None:
        own = outline_level(properties)
        if own is not None:
            return own + 1 if own < 9 else None
        return self.styles.heading_level(style)

    def _list_place(self, properties: Element | None, style: str | None) -> tuple[str | None, int]:
        """Return the item's label (None: not in a list) and its depth."""
        own, from_style = numbering(properties), self.styles.numbering(style)
        identifier = own[0] or from_style[0]
        if identifier is None:
            return None, 0
        level = own[1] if own[1] is not None else from_style[1] or 0
        return self.lists.label(identifier, level), min(max(level, 0), 8)

    def _table(self, table: Element) -> None:
        rows = [list(_descend(row, "tc")) for row in _descend(table, "tr")]
        cells = [cell for row in rows for cell in row]
        if len(cells) == 1 or any(_length(cell) > _LAYOUT_CELL_CHARACTERS for cell in cells):
            for cell in cells:  # the table only lays out the page: read what is in it
                self.blocks(cell)
            return
        grid = _merge_rows([[self._cell(cell) for cell in row] for row in rows])
        self.builder.table(markdown_table(expand_spans(grid)))
        self._attached()

    def _cell(self, cell: Element) -> Cell:
        properties = cell.find(W + "tcPr")
        span = merge = None
        if properties is not None:
            span = whole(value(properties.find(W + "gridSpan")))
            merge = properties.find(W + "vMerge")
        continues = merge is not None and value(merge) != "restart"
        return Cell(self._flat(cell), max(1, span or 1), 0 if continues else 1)

    def _flat(self, parent: Element) -> str:
        """Return all text below `parent` on one line, list labels included; pictures stay in hand."""
        parts: list[str] = []
        for element in parent:
            name = local_name(element)
            if name == "p":
                properties = element.find(W + "pPr")
                style = None if properties is None else value(properties.find(W + "pStyle"))
                text = self.inline.text(element)
                label = self._list_place(properties, style)[0] if text.strip() else None
                parts.append(f"{label} {text}" if label else text)
            elif name in _WRAPPERS or name in ("tbl", "tr", "tc"):
                parts.append(self._flat(element))
        return squeeze(" ".join(parts))


def _length(cell: Element) -> int:
    return sum(len(text.text or "") for text in cell.iter(W + "t"))


def _descend(parent: Element, name: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, also those within content controls and revisions."""
    for element in parent:
        if local_name(element) == name:
            yield element
        elif local_name(element) in _WRAPPERS:
            yield from _descend(element, name)


def _merge_rows(rows: list[list[Cell]]) -> list[list[Cell]]:
    """Give cells that go on from the row above (rows == 0) that row's text."""
    above: dict[int, str] = {}
    merged: list[list[Cell]] = []
    for row in rows:
        column, present, below = 0, [], {}
        for cell in row:
            text = above.get(column, cell.text) if cell.rows == 0 else cell.text
            present.append(Cell(text, cell.columns))
            below[column] = text
            column += cell.columns
        merged.append(present)
        above = below
    return merged
