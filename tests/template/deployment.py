"""What the deployment says, read once: the template's functions and the state machines' definitions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]

Tree = dict[str, Any]


@cache
def template(path: str = "template.yaml") -> Tree:
    """A template as a tree, short intrinsic functions written out."""
    tree: Tree = yaml_parse((ROOT / path).read_text(encoding="utf-8"))
    return tree


def resources(kind: str) -> dict[str, Tree]:
    """Properties by logical id of the root template's resources of one type."""
    every = template()["Resources"].items()
    return {name: item.get("Properties", {}) for name, item in every if item["Type"] == kind}


@dataclass(frozen=True)
class Function:
    """A function with the template's Globals folded in."""

    logical_id: str
    folder: Path
    timeout_seconds: int
    layers: tuple[str, ...]
    variables: frozenset[str]
    properties: Tree

    @property
    def name(self) -> str:
        """The folder's name, which is what the code calls it."""
        return self.folder.name


@cache
def functions() -> dict[str, Function]:
    """Every function by its folder's name."""
    common = template()["Globals"]["Function"]
    found = [_function(key, item, common) for key, item in resources("AWS::Serverless::Function").items()]
    return {function.name: function for function in found}


def _function(logical_id: str, properties: Tree, common: Tree) -> Function:
    return Function(
        logical_id,
        ROOT / properties["CodeUri"],
        int({**common, **properties}["Timeout"]),
        tuple(layer["Ref"] for layer in [*common.get("Layers", []), *properties.get("Layers", [])]),
        frozenset(properties.get("Environment", {}).get("Variables", {})),
        properties,
    )


@dataclass(frozen=True)
class StateMachine:
    """A state machine: its definition's text and what the template substitutes in it."""

    text: str
    substitutions: Tree

    @property
    def definition(self) -> Tree:
        """The parsed definition, placeholders left as they are."""
        tree: Tree = yaml.safe_load(self.text)
        return tree

    def placeholders(self) -> set[str]:
        """Names written as `${Name}`."""
        return set(re.findall(r"\$\{(\w+)}", self.text))

    def tasks(self) -> dict[str, Tree]:
        """Every task at any depth, by its state's name."""
        return {name: state for name, state in states(self.definition) if state["Type"] == "Task"}

    def function(self, task: Tree) -> Function:
        """The function a task invokes."""
        # A task that waits for a token names its function among its parameters.
        resource = task.get("Parameters", {}).get("FunctionName", task["Resource"])
        key = re.fullmatch(r"\$\{(\w+)}", resource)
        assert key, f"{resource} is no placeholder"
        logical_id = self.substitutions[key[1]]["Fn::GetAtt"][0]
        return next(function for function in functions().values() if function.logical_id == logical_id)


def states(definition: Tree) -> Iterator[tuple[str, Tree]]:
    """Every state of a definition, those inside maps too."""
    for name, state in definition["States"].items():
        yield name, state
        if "ItemProcessor" in state:
            yield from states(state["ItemProcessor"])


@cache
def state_machines() -> dict[str, StateMachine]:
    """Every state machine by its logical id."""
    return {
        name: StateMachine((ROOT / item["DefinitionUri"]).read_text("utf-8"), item["DefinitionSubstitutions"])
        for name, item in resources("AWS::Serverless::StateMachine").items()
    }
