"""Which tool the offline model calls first, by rule, in German and English.

A rule applies only where its tool is offered and every required argument can be filled; searching is what remains.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from werkbank.domain.messages import ToolDefinition

_FILE_NAME = re.compile(r"[^\s\"'„“”‚‘’«»<>(),;:/\\@]+\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w.])")
_ID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")
_LIST_FILES = re.compile(
    r"\b(?:list(?:e|en|et)?|zeig\w*|show|welche|which|what)\b.{0,40}\b(?:files|dateien|dokumente|documents)\b"
    r"|\bls\b",
    re.IGNORECASE | re.DOTALL,
)
_OUTLINE = re.compile(
    r"\b(?:outline|table of contents|toc|structure|gliederung|inhaltsverzeichnis|inhaltsübersicht|aufbau|kapitel"
    r"|chapters)\b",
    re.IGNORECASE,
)
_WRITE_FILE = re.compile(
    r"\b(?:schreib\w*|erstell\w*|leg\w*|speicher\w*|write|create|save|make)\b.{0,60}\b(?:datei|file|notiz|note|als|as"
    r"|into|in)\b",
    re.IGNORECASE | re.DOTALL,
)
_CONTENT = re.compile(
    r"\b(?:mit (?:dem )?inhalt|mit (?:dem )?text|with (?:the )?(?:content|text)|containing|saying)\b\s*:?\s*(.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_QUOTES = "\"'„“”‚‘’«» \n"


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked, and the context in which ids stand."""

    question: str
    context: str

    @property
    def file_name(self) -> str | None:
        """The first file the question names."""
        found = _FILE_NAME.search(self.question)
        return found[0] if found else None

    @property
    def file_id(self) -> str | None:
        """The id that stands by the named file in the context; when no file is named, the only id there."""
        if self.file_name is None:
            ids = set(_ID.findall(self.context))
            return ids.pop() if len(ids) == 1 else None
        lines = (line for line in self.context.splitlines() if self.file_name in line)
        found = (_ID.search(line) for line in lines)
        return next((match[0] for match in found if match), None)

    @property
    def content(self) -> str:
        """The text to be written: what follows `with content`, else the question itself."""
        found = _CONTENT.search(self.question)
        return (found[1] if found else self.question).strip(_QUOTES)


# The argument names a tool's schema may use, and what goes in.
_FILLERS: tuple[tuple[tuple[str, ...], Callable[[_Request], str | None]], ...] = (
    (("query", "q", "question", "search", "pattern"), lambda request: request.question),
    (("file",), lambda request: request.file_name or request.file_id),
    (("fileName", "name", "path"), lambda request: request.file_name),
    (("fileId", "id"), lambda request: request.file_id),
    (("content", "text"), lambda request: request.content),
    (("mode",), lambda _: "create"),
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """Call `tool` with `arguments` (those of them that its schema has) when `applies`."""

    tool: str
    applies: Callable[[_Request], bool]
    arguments: frozenset[str]


_RULES = (
    _Rule(
        "writeFile",
        lambda request: bool(_WRITE_FILE.search(request.question)) and request.file_name is not None,
        frozenset({"fileName", "name", "path", "file", "content", "text"}),
    ),
    _Rule(
        "browseContainer",
        lambda request: bool(_OUTLINE.search(request.question)),
        frozenset({"fileName", "name", "path", "file", "fileId", "id"}),
    ),
    _Rule("listFiles", lambda request: bool(_LIST_FILES.search(request.question)), frozenset()),
    _Rule("searchFiles", lambda request: bool(request.question), frozenset({"query", "q", "question", "search"})),
)


def plan_call(question: str, context: str, tools: Sequence[ToolDefinition]) -> tuple[str, str] | None:
    """Return the tool to call and its arguments as JSON, or None when no rule and offered tool fit.

    `context` is what the agent tells about the files at hand; only ids are taken from it.
    """
    request = _Request(question, context)
    offered = {tool.name: tool for tool in tools}
    for rule in _RULES:
        tool = offered.get(rule.tool)
        if tool is None or not rule.applies(request):
            continue
        arguments = _arguments(request, tool, rule.arguments)
        if arguments is not None:
            return tool.name, json.dumps(arguments, ensure_ascii=False)
    return None


def _arguments(request: _Request, tool: ToolDefinition, wanted: frozenset[str]) -> dict[str, str] | None:
    """Fill the tool's schema as far as it can be; None when something required stays open."""
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    names = list(properties) if isinstance(properties, dict) else []
    must = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set[str]()
    filled: dict[str, str] = {}
    for aliases, fill in _FILLERS:
        for name in aliases:
            if name in names and (name in wanted or name in must):
                value = fill(request)
                if value is not None:
                    filled[name] = value
    return filled if must <= filled.keys() else None
