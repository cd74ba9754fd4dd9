"""Child processes that cannot outlive the twin."""

import asyncio
import contextlib
import ctypes
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[2]

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def dies_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """For `preexec_fn`: the kernel sends `number` to the child when the thread that started it is gone.

    Only Linux has this (prctl(2), PR_SET_PDEATHSIG); elsewhere a function ends when the runtime API hangs up on it.
    """
    if _libc is None:
        return None
    prctl = _libc.prctl

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)

    return ask


async def stop(process: asyncio.subprocess.Process, *, grace_seconds: float, signal_: int = signal.SIGTERM) -> None:
    """Asks a process to end, and ends it when it has not done so in time."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal_)
    try:
        await asyncio.wait_for(process.wait(), grace_seconds)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def process_name(pid: int) -> str | None:
    """The name of a running program; None when there is none."""
    try:
        return str(psutil.Process(pid).name())
    except psutil.Error:
        return None


def resident_bytes(pid: int) -> int:
    """The memory a process holds; 0 when it is gone."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def kill_family(pid: int) -> None:
    """Ends a process and everything it started, at once."""
    for process in _family(pid):
        with contextlib.suppress(psutil.Error):
            process.kill()


def _family(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [*process.children(recursive=True), process]
    except psutil.Error:
        return []
