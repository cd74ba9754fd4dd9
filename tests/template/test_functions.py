"""Every function of the template has its thin handler, its typed settings and no more layers than Lambda takes."""

import ast
from collections.abc import Iterator

import pytest
from pydantic_settings import BaseSettings

from tests.template.deployment import ROOT, Function, functions, resources
from werkbank.config import SETTINGS

every_function = pytest.mark.parametrize("function", functions().values(), ids=functions())
MAX_HANDLER_LINES = 60
MAX_LAYERS = 5  # a Lambda quota


@every_function
def test_handler_is_there_and_thin(function: Function) -> None:
    text = (function.folder / "handler.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_HANDLER_LINES
    defined = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    bound = {name.id for node in ast.parse(text).body if isinstance(node, ast.Assign) for name in _names(node)}
    assert "handler" in defined | bound


def _names(assignment: ast.Assign) -> Iterator[ast.Name]:
    return (target for target in assignment.targets if isinstance(target, ast.Name))


def test_every_folder_is_a_function_of_the_template() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/handler.py")}
    assert folders <= set(functions())


@every_function
def test_environment_is_what_the_settings_read(function: Function) -> None:
    settings = SETTINGS.get(function.name)
    known = _variables(settings) if settings else {}
    assert function.variables <= set(known), "set in the template, read by nobody"
    assert {name for name, required in known.items() if required} <= function.variables, "read, but not set"


def _variables(settings: type[BaseSettings]) -> dict[str, bool]:
    """The environment variables that a settings class reads, and whether it needs them."""
    prefix = settings.model_config.get("env_prefix", "")
    return {
        (field.validation_alias if isinstance(field.validation_alias, str) else prefix + name).upper(): (
            field.is_required()
        )
        for name, field in settings.model_fields.items()
    }


def test_settings_belong_to_functions() -> None:
    assert set(SETTINGS) <= set(functions())


@every_function
def test_layers_exist_and_fit(function: Function) -> None:
    assert set(function.layers) <= set(resources("AWS::Serverless::LayerVersion"))
    assert "SharedLayer" in function.layers
    assert len(function.layers) <= MAX_LAYERS


def test_globals_fit_the_platform() -> None:
    # API Gateway gives up after 29 s (socket) or 30 s (HTTP); a longer function would work for nobody.
    for name in ("socket", "authorize_socket", "api", "web"):
        assert functions()[name].timeout_seconds <= 29
