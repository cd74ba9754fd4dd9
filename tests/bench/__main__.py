"""The figures of README's performance table: `python -m tests.bench [loop|core|waiting|reading|importing …]`.

Prints a Markdown table, a row as soon as it is measured. Ratios are **ours : theirs**, below them the medians with
their quartiles in brackets.
"""

import sys
from importlib import import_module

from tests.bench.measuring import HEADER

PARTS = ("loop", "core", "waiting", "reading", "importing")


def main(parts: list[str]) -> int:
    """Measure the parts asked for, all of them by default; return the exit code."""
    if unknown := set(parts) - set(PARTS):
        print(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    print(HEADER)
    for part in parts or PARTS:
        for figure in import_module(f"tests.bench.{part}").figures():
            print(figure.row(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
