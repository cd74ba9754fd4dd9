"""Which packages of others a function can come to import, those imported only when first used included.

Read from the sources, so that no layer is missed because a test took another path. `bootstrap` is followed function by
function: a handler reaches what the parts it asks for import, and nothing else.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.template.deployment import ROOT

SHARED = ROOT / "shared"
BOOTSTRAP = "werkbank.bootstrap"


def packages_reached(handler: Path) -> set[str]:
    """Top-level names of all packages outside the standard library and outside werkbank."""
    tree = _parse(handler)
    pending = [*_imports(tree.body), *_parts_asked_for(tree)]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += _reached_from(name)
    roots = {name.split(".")[0] for name in seen}
    return roots - set(sys.stdlib_module_names) - {"werkbank"}


def _reached_from(name: str) -> list[str]:
    """What a module imports; for a function of bootstrap (`werkbank.bootstrap:name`) what it imports and calls."""
    module, _, function = name.partition(":")
    path = _source(module)
    if path is None:
        return []
    tree = _parse(path)
    if module != BOOTSTRAP:
        return [*_imports(tree.body), *_parents(module)]
    definitions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if not function:
        return list(_imports(node for node in tree.body if not isinstance(node, ast.FunctionDef)))
    called = {node.id for node in ast.walk(definitions[function]) if isinstance(node, ast.Name)} & set(definitions)
    return [*_imports(definitions[function].body), *(f"{BOOTSTRAP}:{other}" for other in called)]


def _parts_asked_for(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "bootstrap":
            yield f"{BOOTSTRAP}:{node.attr}"


def _imports(nodes: Iterable[ast.stmt]) -> Iterator[str]:
    """Every module named by an import at any depth, but not what only type checkers import."""
    for statement in nodes:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _parents(module: str) -> Iterator[str]:
    while "." in module:
        module = module.rpartition(".")[0]
        yield module


def _source(module: str) -> Path | None:
    base = SHARED.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
