"""The layers' locks: complete, hashed, of the versions that the tests ran with, and bound to no registry."""  # DP-01

import re
import tomllib
from pathlib import Path

import pytest

from tests.template.deployment import ROOT, Tree

LAYERS = sorted(path.parent for path in (ROOT / "layers").glob("*/requirements.txt"))
every_layer = pytest.mark.parametrize("layer", LAYERS, ids=lambda path: path.name)


def pins(path: Path) -> set[tuple[str, str]]:
    """Every pinned name and version of a lock; a name may have several, for several interpreters."""
    return set(re.findall(r"^([\w.-]+)==(\S+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE))


def groups() -> Tree:
    tree: Tree = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    return tree


@every_layer
def test_lock_has_what_its_group_asks_for(layer: Path) -> None:
    asked = {re.split(r"[\[<>=~!; ]", item)[0].lower().replace("_", "-") for item in groups()[layer.name]}
    assert asked <= {name for name, _ in pins(layer / "requirements.txt")}


@every_layer
def test_layers_have_the_versions_that_were_tested(layer: Path) -> None:
    assert pins(layer / "requirements.txt") <= pins(ROOT / "tests/requirements.txt")


@every_layer
def test_every_pin_is_hashed(layer: Path) -> None:
    text = (layer / "requirements.txt").read_text(encoding="utf-8")
    for requirement in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in requirement, requirement


@every_layer
def test_lock_names_no_registry(layer: Path) -> None:
    assert "//" not in (layer / "requirements.txt").read_text(encoding="utf-8")
