"""Layers as functions see them on AWS: merged under `/opt`, which on this machine belongs to others.

A function learns of files in a layer through an environment variable that starts with `/opt`; the twin points it to a
folder of links instead.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

_MOUNT = "/opt"


def mounted(folder: Path, layers: Iterable[Path], environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` with its `/opt` paths moved to `folder`, which then links to everything in `layers`."""
    moved = {name: value for name, value in environment.items() if value == _MOUNT or value.startswith(f"{_MOUNT}/")}
    if moved:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for layer in layers:
            for entry in layer.iterdir():
                if not (folder / entry.name).exists():
                    (folder / entry.name).symlink_to(entry)
    return {**environment, **{name: str(folder) + value.removeprefix(_MOUNT) for name, value in moved.items()}}
