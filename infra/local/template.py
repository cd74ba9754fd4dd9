"""Reads `template.yaml` and translates it with AWS's own SAM translator.

Local paths (CodeUri, ContentUri, DefinitionUri) mean nothing to the translator, which runs after an upload:
they are read here and taken out, as `sam package` does.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from infra.local.account import REGION, StartError

# A template is a tree of mappings, lists and scalars with intrinsic functions anywhere: only the leaves have types.
Tree = dict[str, Any]

_SHORT_NAMES_KEPT = {"Ref", "Condition"}


class _Loader(yaml.SafeLoader):
    """YAML 1.1 as CloudFormation reads it: dates stay strings, `!Ref x` is `{"Ref": "x"}`."""


def _intrinsic(loader: _Loader, suffix: str, node: yaml.Node) -> Tree:
    value: object
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        if suffix == "GetAtt":
            value = str(value).split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    return {suffix if suffix in _SHORT_NAMES_KEPT else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _intrinsic)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class CodeLocation:
    """Where a function's code lives: its folder and the folders of its layers, all absolute."""

    folder: Path
    layers: tuple[Path, ...]


@dataclass
class Template:
    """A translated template: plain CloudFormation resources plus what the translation would have lost."""

    parameters: dict[str, str]
    resources: dict[str, Tree]
    conditions: Tree
    nested: frozenset[str] = frozenset()
    code: dict[str, CodeLocation] = field(default_factory=dict)


def load_template(path: Path, parameters: dict[str, str] | None = None) -> Template:
    """Translates the SAM template at `path`; `parameters` override its defaults.

    Raises StartError when the file is missing, is not a template, or a parameter has no value.
    """
    source = _read(path)
    values = _parameter_values(source, parameters or {})
    kinds = {name: item["Type"] for name, item in source["Resources"].items()}
    nested = frozenset(name for name, kind in kinds.items() if kind == "AWS::Serverless::Application")
    for name in nested:
        del source["Resources"][name]
    code = _take_code(source, path.parent)
    _inline_definitions(source, path.parent)
    translated = _translate(source, values)
    return Template(values, translated["Resources"], translated.get("Conditions", {}), nested, code)


def _read(path: Path) -> Tree:
    try:
        source = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except FileNotFoundError:
        raise StartError(f"{path} is missing: run this in the repository.") from None
    except yaml.YAMLError as error:
        raise StartError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(source, dict) or not isinstance(source.get("Resources"), dict):
        raise StartError(f"{path} is not a SAM template: it has no Resources.")
    return source


def _parameter_values(source: Tree, overrides: dict[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, declaration in source.get("Parameters", {}).items():
        value = overrides.get(name, declaration.get("Default"))
        if value is None:
            raise StartError(f"The template's parameter {name} has no default and the twin no value for it.")
        values[name] = str(value)
    return values


def _take_code(source: Tree, root: Path) -> dict[str, CodeLocation]:
    resources: dict[str, Tree] = source["Resources"]
    defaults = source.get("Globals", {}).get("Function", {})
    common_layers = defaults.pop("Layers", [])
    layers = {
        name: (root / item["Properties"]["ContentUri"]).resolve()
        for name, item in resources.items()
        if item["Type"] == "AWS::Serverless::LayerVersion"
    }
    code: dict[str, CodeLocation] = {}
    for name, item in resources.items():
        if item["Type"] != "AWS::Serverless::Function":
            continue
        properties = item["Properties"]
        used = [*common_layers, *properties.pop("Layers", [])]
        folder = (root / properties.pop("CodeUri", defaults.get("CodeUri", "."))).resolve()
        if not folder.is_dir():
            raise StartError(f"{name}: its folder {folder} is missing.")
        code[name] = CodeLocation(folder, tuple(layers[layer["Ref"]] for layer in used if layer.get("Ref") in layers))
        # The twin runs the newest code under the function's own ARN: there are no versions to point an alias at.
        for versioning in ("AutoPublishAlias", "SnapStart", "DeploymentPreference"):
            properties.pop(versioning, None)
        properties["InlineCode"] = "# The code runs from its folder."
    for versioning in ("AutoPublishAlias", "SnapStart", "DeploymentPreference", "CodeUri"):
        defaults.pop(versioning, None)
    for name in layers:
        del resources[name]
    return code


def _inline_definitions(source: Tree, root: Path) -> None:
    for item in source["Resources"].values():
        properties = item.get("Properties", {})
        uri = properties.get("DefinitionUri")
        if isinstance(uri, str):
            del properties["DefinitionUri"]
            text = (root / uri).read_text(encoding="utf-8")
            key = "DefinitionBody" if item["Type"] == "AWS::Serverless::HttpApi" else "Definition"
            properties[key] = json.loads(text) if uri.endswith(".json") else yaml.load(text, Loader=_Loader)  # noqa: S506


def _translate(source: Tree, parameters: dict[str, str]) -> Tree:
    os.environ.setdefault("AWS_DEFAULT_REGION", REGION)
    import boto3
    from samtranslator.parser.parser import Parser  # type: ignore[import-untyped]
    from samtranslator.public.exceptions import InvalidDocumentException  # type: ignore[import-untyped]
    from samtranslator.translator.translator import Translator  # type: ignore[import-untyped]

    translator = Translator(None, Parser(), plugins=[], boto_session=boto3.Session(region_name=REGION))
    try:
        translated: Tree = translator.translate(source, parameters)
    except InvalidDocumentException as error:
        causes = "; ".join([str(error), *(str(cause) for cause in error.causes)])
        raise StartError(f"The template does not translate: {causes}") from error
    return translated
