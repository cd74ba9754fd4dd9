"""`python -m infra.local`: starts the twin and stays up until Ctrl-C. PORT chooses the page's port (default 8080)."""

import os
import signal
import sys
import threading

from infra.local.account import StartError
from infra.local.stack import LocalStack


def main() -> int:
    """Runs the twin; the exit code is 1 when it could not start."""
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    try:
        port = int(os.environ.get("PORT", "8080"))
    except ValueError:
        print(f"PORT must be a number, not {os.environ['PORT']!r}.", file=sys.stderr)
        return 1
    print("Starting PostgreSQL, AWS's services and the functions …", file=sys.stderr)
    stack = LocalStack(port=port)
    try:
        stack.start()
    except StartError as error:
        print(f"Werkbank did not start: {error}", file=sys.stderr)
        return 1
    print(f"Werkbank is ready: {stack.url}", flush=True)
    threading.Thread(target=stack.warm_all, daemon=True).start()
    done.wait()
    print("Stopping …", file=sys.stderr)
    stack.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
