"""`make page`: builds the page. `python -m infra.local.page test` runs its unit tests instead."""

import sys

from infra.local.account import StartError
from infra.local.node import npm
from infra.local.processes import ROOT

PAGE = ROOT / "functions" / "web"

_COMMANDS = {
    "build": (["ci", "--no-audit", "--no-fund", "--loglevel=error"], ["run", "--silent", "build"]),
    "test": (["run", "--silent", "test"],),
}


def main(task: str = "build") -> int:
    """Install the locked packages and build, or test; the exit code is that of the first command that fails."""
    try:
        for arguments in _COMMANDS[task]:
            exit_code = npm(PAGE, *arguments)
            if exit_code:
                return exit_code
    except StartError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
