"""The text inside a Word paragraph: runs, breaks, fields, notes, equations; pictures and text boxes set aside."""

from dataclasses import dataclass, field

from pydantic import JsonValue

from werkbank.documents.docx_math import latex
from werkbank.documents.docx_styles import W, whole
from werkbank.documents.office_package import Element

_PLAIN = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t", "separator": "", "sym": ""}
# Deleted or moved-away text, field codes, and everything that says how the paragraph looks.
_SKIPPED_NAMES = "pPr rPr del moveFrom instrText delText delInstrText sdtPr sdtEndPr rt tblPr Fallback"
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_EMU_PER_POINT = 12_700


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture anchored in the text; sizes in points, None when the file does not say."""

    label: str | None
    width: float | None
    height: float | None

    def metadata(self) -> dict[str, JsonValue]:
        """Return the size for a content object."""
        return {"width": self.width, "height": self.height}


@dataclass
class InlineReader:
    """Reads paragraphs; `notes` are the document's foot- and endnotes by kind and id."""

    notes: dict[str, dict[str, Element]]
    _pictures: list[Picture] = field(default_factory=list)
    _boxes: list[Element] = field(default_factory=list)
    _pending: list[tuple[str, Element]] = field(default_factory=list)
    _count: int = 0

    def text(self, paragraph: Element) -> str:
        """Return the paragraph's text; what is anchored in it can be taken afterwards."""
        parts: list[str] = []
        self._read(paragraph, parts)
        return "".join(parts)

    def take_pictures(self) -> list[Picture]:
        """Return the pictures met since the last call."""
        taken, self._pictures = self._pictures, []
        return taken

    def take_boxes(self) -> list[Element]:
        """Return the contents of the text boxes met since the last call."""
        taken, self._boxes = self._boxes, []
        return taken

    def take_notes(self) -> list[tuple[str, Element]]:
        """Return (label, note) for the notes referred to since the last call."""
        taken, self._pending = self._pending, []
        return taken

    def _read(self, parent: Element, parts: list[str]) -> None:
        for element in parent:
            name = element.tag.rpartition("}")[2]
            if name == "t":
                parts.append(element.text or "")
            elif name in _SKIPPED:
                continue
            elif name in _PLAIN:
                parts.append(_PLAIN[name])
            elif name == "oMathPara":
                parts.extend(f"\n$${latex(formula).strip()}$$\n" for formula in element if _is_formula(formula))
            elif name == "oMath":
                parts.append(f" ${latex(element).strip()}$ ")
            elif name in ("footnoteReference", "endnoteReference"):
                parts.append(self._note(name.removesuffix("Reference"), element.get(W + "id", "")))
            elif name == "txbxContent":
                self._boxes.append(element)
            else:
                self._object(name, element)
                self._read(element, parts)

    def _object(self, name: str, element: Element) -> None:
        if name == "pic" or name == "imagedata":
            self._pictures.append(_picture(element))

    def _note(self, kind: str, identifier: str) -> str:
        note = self.notes.get(kind, {}).get(identifier)
        if note is None:
            return ""
        self._count += 1
        self._pending.append((f"^{self._count}", note))
        return f" [^{self._count}]"


def _is_formula(element: Element) -> bool:
    return element.tag.endswith("}oMath")


def _picture(element: Element) -> Picture:
    label = None
    width = height = None
    for item in element.iter():
        name = item.tag.rpartition("}")[2]
        if name == "cNvPr":
            label = label or item.get("descr") or item.get("title")
        elif name == "ext" and item.get("cx"):
            width, height = _points(item.get("cx")), _points(item.get("cy"))
    return Picture(label, width, height)


def _points(emu: str | None) -> float | None:
    number = whole(emu)
    return None if number is None else round(number / _EMU_PER_POINT, 1)
