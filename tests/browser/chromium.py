"""The browser of these tests: the machine's Chromium, brought in by apt where that is possible."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# Nothing but the page under test may speak to the network.
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NoBrowserError(Exception):
    """There is no Chromium here; the text says why."""


def find_chromium() -> str:
    """Return the path of a Chromium, installing Debian's if need be. Raises NoBrowserError."""
    found = _on_path()
    if found is None and _is_debian_root():
        _install()
        found = _on_path()
    if found is None:
        raise NoBrowserError(f"none of {', '.join(_NAMES)} is here, and only root on Debian can install it")
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a headless Chromium with a fresh profile until the block ends. Raises NoBrowserError."""
    path = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()


def _on_path() -> str | None:
    return next((path for path in map(shutil.which, _NAMES) if path), None)


def _is_debian_root() -> bool:
    return os.geteuid() == 0 and Path("/etc/debian_version").exists() and shutil.which("apt-get") is not None


def _install() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", "chromium"]):
        done = subprocess.run(["apt-get", *arguments], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoBrowserError(f"apt-get {arguments[0]} failed: {done.stderr.strip()[-200:]}")
