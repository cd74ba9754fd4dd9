"""What importing a handler loads: a cold start pays for all of it, whatever it is asked to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUNCTIONS = sorted(path.parent for path in (ROOT / "functions").glob("*/handler.py"))
HEAVY = {"anthropic", "fitz", "openai", "pymupdf"}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda folder: folder.name)
def test_handler_is_imported_without_environment_and_without_a_model_sdk(function: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "shared")}
    program = "import sys, handler; print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=function, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert HEAVY.isdisjoint(done.stdout.split())
