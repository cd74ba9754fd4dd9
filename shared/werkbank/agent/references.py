"""Finds the files that `@` names: `@report.pdf`, `@Reports/2025/q4.pdf`, `@archive.zip`, `@Reports/` (AG-01).

A name begins at an `@` that no word runs into, and ends where it does not go on. Names may hold spaces, so the longest
one that exists counts; a path may begin in any folder. Neither case nor the form of Unicode makes a difference.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from werkbank.domain.files import FileFolder, FileItem

MOST_FILES = 100
_MOST_NOTES, _LONGEST_SHOWN = 20, 100
_AT = re.compile(r"(?<!\w)@(?=\S)")
# Behind a name stands no letter, nor one behind what joins names, as in `report.pdf.bak`. A slash behind a file leads
# into a container; behind a folder it leads to something else.
_FILE_END, _FOLDER_END = re.compile(r"(?!\w|[.\-+~]\w)"), re.compile(r"(?!\w|[.\-+~/]\w)")
_PUNCTUATION = ".,;:!?…'\"’”“»)]}>"


class NamedFiles(Protocol):
    """Files by their names and folders."""

    def named_in(self, text: str) -> tuple[FileItem, ...]: ...
    def ids_in(self, folder_ids: Sequence[str]) -> tuple[str, ...]: ...


class NamedFolders(Protocol):
    """The user's folders."""

    def list(self) -> tuple[FileFolder, ...]: ...


class ReferenceSession(Protocol):
    """The stores used here."""

    @property
    def files(self) -> NamedFiles: ...
    @property
    def folders(self) -> NamedFolders: ...


@dataclass(frozen=True, slots=True)
class References:
    """What the names in a question come to: files in its order, and what is amiss, each in a line."""

    file_ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def told(self) -> str:
        """Return what the model is told of that; empty where nothing is amiss."""
        if not self.notes:
            return ""
        lines = [f"- {note}" for note in self.notes[:_MOST_NOTES]]
        if len(self.notes) > _MOST_NOTES:
            lines.append(f"- and {len(self.notes) - _MOST_NOTES} more of the kind")
        return "\n".join(["Names behind an @; tell the user where one was meant as a file:", *lines])


def resolve(session: ReferenceSession, prompt: str) -> References:
    """Return what the names in a prompt come to. Only for a user's own words: nobody else may name their files."""
    text = unicodedata.normalize("NFC", prompt)
    starts = [at.end() for at in _AT.finditer(text)]
    if not starts:
        return References()
    folded = _fold(text)
    names = _Names(session.folders.list(), session.files.named_in(text[starts[0] - 1 :]))
    file_ids: dict[str, None] = {}
    notes: list[str] = []
    for name, shown in _meant(names, text, folded, starts):
        if name is None:
            notes.append(f"{shown}: the user has no file or folder of this name.")
            continue
        meant = names.files.get(name) or session.files.ids_in(names.below(name))
        file_ids.update(dict.fromkeys(meant))
        if not meant:
            notes.append(f"{shown}: there are no files in this folder.")
    if len(file_ids) > MOST_FILES:
        notes.append(f"{len(file_ids)} files are named, of which only {MOST_FILES} go along. listFiles shows all.")
    return References(tuple(file_ids)[:MOST_FILES], tuple(notes))


def _meant(names: "_Names", text: str, folded: str, starts: Iterable[int]) -> Iterator[tuple[str | None, str]]:
    """Yield each name that stands in a text, as it is known (None: not at all) and as the user wrote it first."""
    seen: set[str] = set()
    for start in starts:
        name = names.longest(folded, start)
        end = start + len(name) if name else _end_of_word(text, start)
        key = name or text[start:end]
        if key and key not in seen:
            seen.add(key)
            yield name, f"@{text[start:end]}"


def _end_of_word(text: str, start: int) -> int:
    word = text[start : start + _LONGEST_SHOWN].split(maxsplit=1)[0]
    return start + len(word.rstrip(_PUNCTUATION))


class _Names:
    """Files and folders by every way to name them: alone, or behind any part of their path."""

    def __init__(self, folders: Sequence[FileFolder], files: Iterable[FileItem]) -> None:
        by_id = {folder.id: folder for folder in folders}
        self._lines = {folder.id: _line(by_id, folder) for folder in folders}
        self.files: dict[str, list[str]] = {}
        self.folders: dict[str, list[str]] = {}
        for file in files:
            above = self._lines.get(file.folder_id or "", [])
            for name in _ways([*(folder.name for folder in above), file.file_name]):
                self.files.setdefault(name, []).append(file.id)
        for folder_id, line in self._lines.items():
            for name in _ways([folder.name for folder in line]):
                self.folders.setdefault(name, []).append(folder_id)
                self.folders.setdefault(f"{name}/", []).append(folder_id)
        self._ends = dict.fromkeys(self.folders, _FOLDER_END) | dict.fromkeys(self.files, _FILE_END)
        self._lengths = sorted({len(name) for name in self._ends}, reverse=True)

    def longest(self, text: str, start: int) -> str | None:
        """Return the longest name that stands here in a folded text."""
        for length in self._lengths:
            name, end = text[start : start + length], start + length
            ends = self._ends.get(name)
            if ends and ends.match(text, end):
                return name
        return None

    def below(self, name: str) -> list[str]:
        """Return the folders of this name and all within them."""
        named = set(self.folders[name])
        return [id for id, line in self._lines.items() if not named.isdisjoint(folder.id for folder in line)]


def _line(by_id: dict[str, FileFolder], folder: FileFolder) -> list[FileFolder]:
    """Return the folders from the top down to this one."""
    above = by_id.get(folder.parent_id or "")
    return [*_line(by_id, above), folder] if above else [folder]


def _ways(path: Sequence[str]) -> list[str]:
    return [_fold("/".join(path[start:])) for start in range(len(path))]


def _fold(text: str) -> str:
    """Return a text by whose parts names are told apart, every character in its place."""
    lowered = (char.lower() for char in unicodedata.normalize("NFC", text))
    return "".join(lower if len(lower) == 1 else lower[0] for lower in lowered)
