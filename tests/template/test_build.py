"""The template validates and builds; what it builds fits into Lambda and runs there on its own."""  # DP-01

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.template.deployment import ROOT, Function, functions
from tests.template.reach import packages_reached

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # a build may have to fetch every wheel first

LIMIT_BYTES = 250 * 1000 * 1000  # unzipped, layers included; Lambda's 250 MB are a little more
SAM = Path(sys.executable).with_name("sam")
every_function = pytest.mark.parametrize("function", functions().values(), ids=functions())


def sam(*arguments: str, **variables: str) -> None:
    """Run SAM as somebody without an AWS account would; its report shows when it fails."""
    environment = {**os.environ, "AWS_DEFAULT_REGION": "eu-central-1", "SAM_CLI_TELEMETRY": "0", **variables}
    result = subprocess.run([SAM, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def build(folder: Path, **variables: str) -> Path:
    if not (ROOT / "functions/web/dist/index.html").exists():
        pytest.skip("the page is not built: make page")
    sam("build", "--build-dir", str(folder), **variables)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is deployed, for Lambda's interpreter and processor."""
    return build(tmp_path_factory.mktemp("lambda"))


@pytest.fixture(scope="module")
def built_for_here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for the interpreter that runs the tests."""
    system = "apple-darwin" if sys.platform == "darwin" else "manylinux_2_28"
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    variables = {"WERKBANK_LAYER_PYTHON": version, "WERKBANK_LAYER_PLATFORM": f"{machine}-{system}"}
    return build(tmp_path_factory.mktemp("here"), **variables)


def test_template_is_valid() -> None:
    sam("validate", "--lint")


@pytest.mark.parametrize("path", sorted((ROOT / "infra").glob("*.yaml")), ids=lambda path: path.name)
def test_nested_template_is_valid(path: Path) -> None:
    sam("validate", "--lint", "--template", str(path))


@every_function
def test_function_and_layers_fit(built: Path, function: Function) -> None:
    # The migrations' layer is not built: SAM packages the folder as it is.
    folders = [built / name for name in (function.logical_id, *function.layers)]
    sizes = {folder.name: size(folder) for folder in folders if folder.exists()}
    assert sizes[function.logical_id] > 0
    assert sum(sizes.values()) < LIMIT_BYTES, sizes


def size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def test_the_page_is_built_without_its_sources(built: Path) -> None:
    assert {path.name for path in (built / "WebFunction").iterdir()} == {"handler.py", "dist"}


@every_function
def test_what_is_imported_later_is_in_the_layers_too(built: Path, function: Function) -> None:
    folders = [built / layer / "python" for layer in function.layers]
    there = {path.name.split(".")[0] for folder in folders if folder.exists() for path in folder.iterdir()}
    assert packages_reached(function.folder / "handler.py") <= there


@every_function
def test_function_imports_with_its_layers_alone(built_for_here: Path, function: Function) -> None:
    layers = [built_for_here / layer / "python" for layer in function.layers]
    paths = [str(path) for path in (built_for_here / function.logical_id, *layers) if path.exists()]
    script = f"import sys; sys.path[:0] = {paths!r}; import handler; assert callable(handler.handler)"
    environment = {
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_LAMBDA_FUNCTION_NAME": function.logical_id,
        **dict.fromkeys(function.variables, "1"),
    }
    # -I -S: no site-packages, no PYTHONPATH, no working directory.
    command = [sys.executable, "-I", "-S", "-c", script]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
