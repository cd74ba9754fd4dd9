"""Office Open XML packages (ECMA-376 part 2): parts, relationships, and the limits that hostile files run into."""

import io
import lzma
import posixpath
import zipfile
import zlib
from xml.etree import ElementTree

from werkbank.domain.errors import DocumentError

MAX_UNPACKED_BYTES = 500 * 1024 * 1024
MAX_PART_BYTES = 64 * 1024 * 1024  # a part becomes a tree of about ten times its size; this is some 5,000 pages
_MAX_DEPTH = 256
_READ_BYTES = 1024 * 1024
# Strict files (ISO 29500-1) name the same elements in other namespaces.
_STRICT_NAMESPACES = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    b"http://purl.oclc.org/ooxml/officeDocument/": b"http://schemas.openxmlformats.org/officeDocument/2006/",
    b"http://purl.oclc.org/ooxml/drawingml/": b"http://schemas.openxmlformats.org/drawingml/2006/",
}
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"

_UNPACKING_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, NotImplementedError, RuntimeError,
)  # fmt: skip

Element = ElementTree.Element


class _NoDoctype(ElementTree.TreeBuilder):
    """Refuses document types, and with them every kind of entity: Office files have none."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise DocumentError("The file contains an XML document type, which Office files never have; it is not read.")


class OfficePackage:
    """The parts of one file, read on demand; the bytes really unpacked count against one limit.

    Raises DocumentError when the file is cut off, encrypted, damaged or beyond a limit.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise DocumentError(
                "The file is cut off or damaged: its directory at the end is missing. Upload it again."
            ) from error
        self._names = set(self._archive.namelist())
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def xml(self, name: str) -> Element | None:
        """Return the root of a part, or None when the package does not have it."""
        return parse_xml(self._read(name)) if name in self._names else None

    def relationships(self, part: str) -> dict[str, str]:
        """Return the internal targets a part refers to, by relationship id."""
        folder, name = posixpath.split(part)
        return {
            relation.get("Id", ""): _resolve(folder, relation.get("Target", ""))
            for relation in self._relations(f"{folder}/_rels/{name}.rels".lstrip("/"))
        }

    def target_of_type(self, part: str, kind: str) -> str | None:
        """Return the first target of a relationship whose type ends in `/kind`; `part` is empty for the package."""
        folder, name = posixpath.split(part)
        for relation in self._relations(f"{folder}/_rels/{name}.rels".lstrip("/")):
            if relation.get("Type", "").endswith("/" + kind):
                return _resolve(folder, relation.get("Target", ""))
        return None

    def _relations(self, name: str) -> list[Element]:
        root = self.xml(name)
        relations = [] if root is None else root.findall(_RELATIONSHIP)
        return [relation for relation in relations if relation.get("TargetMode") != "External"]

    def _read(self, name: str) -> bytes:
        entry = self._archive.getinfo(name)
        if entry.flag_bits & 1:
            raise DocumentError("The file is protected with a password. Remove the password and upload it again.")
        chunks: list[bytes] = []
        size = 0
        try:
            with self._archive.open(entry) as stream:
                while chunk := stream.read(_READ_BYTES):
                    size += len(chunk)
                    self._count(len(chunk), size)
                    chunks.append(chunk)
        except _UNPACKING_ERRORS as error:
            raise DocumentError(_damaged(name)) from error
        return b"".join(chunks)

    def _count(self, read: int, size_of_part: int) -> None:
        self._unpacked += read
        if self._unpacked > MAX_UNPACKED_BYTES or size_of_part > MAX_PART_BYTES:
            raise DocumentError(
                f"The file unpacks to more than {MAX_UNPACKED_BYTES // 1024**2} MB, or one part of it to more than "
                f"{MAX_PART_BYTES // 1024**2} MB; that is beyond what Werkbank reads. Split the document."
            )


def parse_xml(data: bytes) -> Element:
    """Parse a part: no document types, no entities, bounded depth. Raises DocumentError."""
    for strict, transitional in _STRICT_NAMESPACES.items():
        data = data.replace(strict, transitional)
    parser = ElementTree.XMLParser(target=_NoDoctype())  # noqa: S314 - document types are refused above
    try:
        parser.feed(data)
        root: Element = parser.close()
    except ElementTree.ParseError as error:
        raise DocumentError("The file is damaged: a part of it is not well-formed XML. Save it again.") from error
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise DocumentError(f"The file nests its content more than {_MAX_DEPTH} levels deep; it is not read.")
        level = [child for element in level for child in element]
    return root


def _resolve(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def _damaged(name: str) -> str:
    return f"The file is damaged: its part “{name}” cannot be unpacked. Save it again and upload it."
