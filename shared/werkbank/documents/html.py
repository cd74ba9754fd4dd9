"""HTML, by a parser that follows the HTML standard; scripts, styles and hidden machinery are left out."""

import re
from collections import Counter
from collections.abc import Iterator

from pydantic import JsonValue
from selectolax.lexbor import LexborHTMLParser, LexborNode

from werkbank.documents.builder import DocumentBuilder
from werkbank.documents.characters import clean_text, squeeze
from werkbank.documents.detect import HTML
from werkbank.documents.encoding import decode_text
from werkbank.documents.tables import Cell, expand_spans, markdown_table
from werkbank.domain.documents import ExtractedDocument
from werkbank.domain.errors import DocumentError

# Building the tree costs the square of the depth (measured: 5,000 open <font> take 12 s); browsers stop at 512.
MAX_DEPTH = 1_000
_MAX_BYTES = 64 * 1024 * 1024
_LAYOUT_CELL_CHARACTERS = 2_000
# In more tables inside each other, each would have all within it read once more to tell what it is: they are layout.
_MAX_LAYOUT_TABLES = 8

_SKIPPED_TAGS = "script style template noscript iframe object canvas svg head annotation annotation-xml"
_SKIPPED = frozenset(_SKIPPED_TAGS.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS = """
    address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form header hgroup hr html legend li main menu nav ol option p section select summary tbody td
    textarea tfoot th thead tr ul table pre
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_UNNESTED_TAGS = """
    area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th thead
    tbody tfoot colgroup html head body
"""
_VOID_OR_SELF_CLOSING = frozenset(_UNNESTED_TAGS.split())
_LISTS = frozenset(("ul", "ol", "menu", "dir", "dl"))
_BREAK = "\x00"  # cannot occur in the page: removed before parsing
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([a-zA-Z0-9_-]+)""", re.I)


def extract_html(data: bytes, file_name: str) -> ExtractedDocument:
    """Read headings, paragraphs, lists, definition lists, tables, code and pictures of a page in document order.

    Raises DocumentError for pages that are too large or nested deeper than any browser shows.
    """
    if len(data) > _MAX_BYTES:
        raise DocumentError(f"The page is larger than {_MAX_BYTES // 1024**2} MB of HTML. Save it in parts.")
    charset = _CHARSET.search(data[:4096])
    markup = decode_text(data, charset[1].decode("ascii") if charset else None).replace("\x00", "")
    _refuse_deep_nesting(markup)
    tree = LexborHTMLParser(markup)
    builder = DocumentBuilder(file_name, HTML)
    if tree.root is not None:
        _Page(builder).read(tree.root)
    title = tree.css_first("title")
    return builder.build({"title": squeeze(title.text())} if title is not None else {})


def _refuse_deep_nesting(markup: str) -> None:
    still_open: Counter[str] = Counter()
    depth = 0
    for closing, name in _TAG.findall(markup):
        tag = name.lower()
        if tag in _VOID_OR_SELF_CLOSING:
            continue
        if not closing:
            still_open[tag] += 1
            depth += 1
        elif still_open[tag]:
            still_open[tag] -= 1
            depth -= 1
        if depth > MAX_DEPTH:
            raise DocumentError(
                f"The page nests more than {MAX_DEPTH} elements inside each other; no browser shows such a page."
            )


class _Page:
    """Walks a tree without recursion and hands whole blocks to the builder."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._images: list[LexborNode] = []
        self._lists: list[int | None] = []  # None for bullets, else the next number
        self._prefix = ""
        self._layout_tables = 0

    def read(self, root: LexborNode) -> None:
        """Add everything below `root`."""
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, is_leaving = stack.pop()
            if is_leaving:
                self._leave(node.tag or "")
            elif node.is_text_node:
                self._inline.append(node.text_content or "")
            elif node.is_element_node and self._enter(node):
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(list(_children(node))))
        self._end_block()

    def _enter(self, node: LexborNode) -> bool:
        """Take an element in; return whether its children are to be read one by one."""
        tag = node.tag or ""
        if tag in _SKIPPED or "hidden" in node.attributes:
            return False
        if tag == "br":
            self._inline.append(_BREAK)
        elif tag == "img":
            self._images.append(node)
            if node.parent is not None and node.parent.tag == "a":  # the description is the link's only text
                self._inline.append(node.attributes.get("alt") or "")
        elif tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag])
        elif tag == "pre":
            self._code(node)
        elif tag == "table":
            return self._table(node)
        else:
            if tag in _BLOCKS:
                self._open_block(tag, node)
            return True
        return False

    def _open_block(self, tag: str, node: LexborNode) -> None:
        self._end_block()
        if tag in _LISTS:
            self._lists.append(_start_number(node) if tag == "ol" else None)
        elif tag == "li":
            self._prefix = self._list_marker()
        elif tag == "dt":
            self._prefix = self._indent() + "- "
        elif tag == "dd":
            self._prefix = self._indent() + "    - "

    def _list_marker(self) -> str:
        number = self._lists[-1] if self._lists else None
        if number is None:
            return self._indent() + "- "
        self._lists[-1] = number + 1
        return f"{self._indent()}{number}. "

    def _indent(self) -> str:
        return "    " * min(len(self._lists) - 1, 10)

    def _leave(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._end_block()
            self._prefix = ""
        if tag in _LISTS and self._lists:
            self._lists.pop()
        if tag == "table":
            self._layout_tables -= 1

    def _end_block(self) -> None:
        text = "\n".join(filter(None, map(squeeze, "".join(self._inline).split(_BREAK))))
        self._inline.clear()
        if text and self._lists:
            self._builder.line((self._prefix or self._indent() + "  ") + text)
        elif text:
            self._builder.paragraph(self._prefix + text)
        if text:
            self._prefix = ""
        images, self._images = self._images, []
        for image in images:
            self._builder.image(image.attributes.get("alt"), _image_metadata(image))

    def _heading(self, node: LexborNode, level: int) -> None:
        self._end_block()
        self._builder.heading(_flat_text(node), level)
        self._images += node.css("img")

    def _code(self, node: LexborNode) -> None:
        self._end_block()
        text = _code_text(node).strip("\n")
        if text.strip():
            self._builder.paragraph(f"```\n{text}\n```")

    def _table(self, node: LexborNode) -> bool:
        self._end_block()
        own_rows = _rows(node) if self._layout_tables < _MAX_LAYOUT_TABLES else ()
        rows = [[_cell(cell) for cell in _children(row) if cell.tag in ("td", "th")] for row in own_rows]
        cells = [cell for row in rows for cell in row]
        if len(cells) <= 1 or any(len(cell.text) > _LAYOUT_CELL_CHARACTERS for cell in cells):
            self._layout_tables += 1
            return True  # a table that only lays out the page: read what is in it
        for caption in (child for child in _children(node) if child.tag == "caption"):
            self._builder.paragraph(_flat_text(caption))
        self._builder.table(markdown_table(expand_spans(rows)))
        self._images += node.css("img")
        return False


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    """Yield the table's own rows, not those of tables within its cells."""
    for child in _children(table):
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in _children(child) if row.tag == "tr")


def _cell(node: LexborNode) -> Cell:
    attributes = node.attributes
    return Cell(_flat_text(node), _span(attributes.get("colspan")), _span(attributes.get("rowspan")))


def _span(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 6 else 1


def _start_number(node: LexborNode) -> int:
    return _span(node.attributes.get("start"))


def _flat_text(root: LexborNode) -> str:
    """Return all text below `root` on one line, with a space where a block or a line ends."""
    parts: list[str] = []
    stack = list(_children(root))[::-1]
    while stack:
        node = stack.pop()
        if node.is_text_node:
            parts.append(node.text_content or "")
        elif node.is_element_node and node.tag not in _SKIPPED:
            is_block = node.tag in _BLOCKS or node.tag in _HEADINGS or node.tag == "br"
            children = list(_children(node))[::-1]
            if is_block:
                parts.append(" ")
            stack.extend(children)
    return squeeze("".join(parts))


def _code_text(root: LexborNode) -> str:
    """Return preformatted text as it stands."""
    parts = ("\n" if node.tag == "br" else node.text_content or "" for node in root.traverse(include_text=True))
    return clean_text("".join(parts))


def _image_metadata(node: LexborNode) -> dict[str, JsonValue]:
    attributes = node.attributes
    source = attributes.get("src") or ""
    return {
        "source": "embedded" if source.startswith("data:") else squeeze(source)[:500],
        "width": squeeze(attributes.get("width") or "") or None,
        "height": squeeze(attributes.get("height") or "") or None,
    }
