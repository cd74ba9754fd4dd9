"""`python -m infra.local`: starts the twin and stays up until Ctrl-C. PORT chooses the page's port (default 8080)."""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from infra.local.account import StartError
from infra.local.processes import ROOT
from infra.local.stack import LocalStack


def main() -> int:
    """Runs the twin; the exit code is 1 when it could not start."""
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="Runs Werkbank on this machine.")
    parser.add_argument("--template", type=Path, default=ROOT / "template.yaml", help="the SAM template to run")
    parser.add_argument("--state-dir", type=Path, default=ROOT / ".werkbank", help="where data and logs are kept")
    options = parser.parse_args()
    try:
        port = int(os.environ.get("PORT", "8080"))
    except ValueError:
        print(f"PORT must be a number, not {os.environ['PORT']!r}.", file=sys.stderr)
        return 1
    return _run(LocalStack(options.template, options.state_dir, port))


def _run(stack: LocalStack) -> int:
    # The kernel may hand a signal to any thread, but Python runs handlers in the main thread only, and that one waits
    # in a read which a signal to another thread does not interrupt. The wakeup descriptor is written by any of them.
    asked_to_stop, ask_to_stop = os.pipe()
    os.set_blocking(ask_to_stop, False)
    signal.set_wakeup_fd(ask_to_stop)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    print("Starting PostgreSQL, AWS's services and the functions …", file=sys.stderr)
    try:
        stack.start()
    except StartError as error:
        print(f"Werkbank did not start: {error}", file=sys.stderr)
        return 1
    print(f"Werkbank is ready: {stack.url}", flush=True)
    # So that the first question does not wait for one cold start after the other.
    threading.Thread(target=stack.warm_all, daemon=True).start()
    os.read(asked_to_stop, 1)
    print("Stopping …", file=sys.stderr)
    stack.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
