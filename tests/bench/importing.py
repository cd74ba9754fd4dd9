"""How long a cold start spends on importing each edge and loop handler, against the libraries under them.

Every import runs in a fresh interpreter that sees the handler's folder and `shared/`, and no environment.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measuring import Figure, Side, ratio, taking_turns

ROOT = Path(__file__).parents[2]
HANDLERS = ("socket", "authorize_socket", "api", "check_budget", "agent_round", "execute_tool", "finish_run")
_TIMES = 9
_UNDERNEATH = "import boto3, psycopg, psycopg_pool; from aws_lambda_powertools import Logger, Metrics, Tracer"


def import_milliseconds(statement: str, folder: Path = ROOT) -> float:
    """Return how long a statement takes in a fresh interpreter started in `folder`."""
    program = f"import time; begun = time.perf_counter(); {statement}; print((time.perf_counter() - begun) * 1_000)"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "shared")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def figures() -> Iterator[Figure]:
    """Measure."""
    sides = {name: _importing(name) for name in HANDLERS} | {"underneath": lambda: import_milliseconds(_UNDERNEATH)}
    taken = taking_turns(_TIMES, sides)
    for name in HANDLERS:
        how = f"boto3 + Powertools + psycopg, fresh interpreters; {_TIMES} imports each"
        yield Figure(f"Import of `{name}`", ratio(taken[name], taken["underneath"]), "≤ 1.5×", how)


def _importing(name: str) -> Side:
    return lambda: import_milliseconds("import handler", ROOT / "functions" / name)
