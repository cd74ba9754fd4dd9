"""Reads a fetched page in a process of its own: a page can be made to exhaust whoever reads it.

A megabyte of nested tables, a PDF whose drawings call each other: what parsers do with them has no bound that the
page's size would tell. So time and memory are bounded from outside, and what kills the reader kills nothing else.
The process is given no credentials either.
"""

import json
import math
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from resource import RLIMIT_AS, RLIMIT_CPU, getpagesize, setrlimit
from typing import cast

from werkbank.domain.errors import ToolError
from werkbank.observability import logger
from werkbank.web.connection import Deadline
from werkbank.web.main_text import read_content
from werkbank.websearch.model import WebPage

_MAX_MEMORY_BYTES = 350 * 1024 * 1024
# Of address space: what single steps of a parser may take while nobody looks, libraries included.
_MAX_ADDRESSES_BYTES = 600 * 1024 * 1024
# A page's main text is worth this much more; without it the page is read as it stands.
_MAIN_TEXT_SECONDS = 6
_INHERITED = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")


def read_apart(data: bytes, url: str, mime_type: str, charset: str | None, deadline: Deadline) -> WebPage:
    """Return what `read_content` gives, or the best it gave before it was out of time or memory. Raises ToolError."""
    seconds = deadline.remaining()
    order = {"url": url, "mimeType": mime_type, "charset": charset, "seconds": math.ceil(seconds)}
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        ended = subprocess.run(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-P", "-m", __name__],
            input=json.dumps(order).encode() + b"\n" + data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback may hold the page's text
            timeout=seconds,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return _last_answer(late.stdout or b"", deadline.error())
    if ended.returncode:
        logger.warning("page reader ended early", extra={"returnCode": ended.returncode})
    return _last_answer(ended.stdout, ToolError("The page is too large or too intricate to be read. Try another one."))


def _last_answer(output: bytes, otherwise: ToolError) -> WebPage:
    *answers, _ = output.split(b"\n")  # what stands behind the last line's end was broken off
    if not answers:
        raise otherwise
    answer = cast(dict[str, str], json.loads(answers[-1]))
    if "error" in answer:
        raise ToolError(answer["error"])
    return WebPage(**answer)


def _main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    if sys.platform == "linux":  # elsewhere, which is on laptops alone, time only is bounded
        threading.Thread(target=_end_when_full, daemon=True).start()
        setrlimit(RLIMIT_AS, (_MAX_ADDRESSES_BYTES, _MAX_ADDRESSES_BYTES))
    most = order["seconds"] + 1  # should nobody be left to end this process in time
    setrlimit(RLIMIT_CPU, (most, most))
    data = sys.stdin.buffer.read()
    try:
        for page in read_content(data, order["url"], order["mimeType"], order["charset"]):
            _answer(asdict(page))
            setrlimit(RLIMIT_CPU, (min(most, int(time.process_time()) + _MAIN_TEXT_SECONDS), most))
    except ToolError as error:
        _answer({"error": str(error)})


def _end_when_full() -> None:
    """End the process before its address space is used up: an interpreter without memory may turn in circles."""
    while int(Path("/proc/self/statm").read_text("ascii").split()[1]) * getpagesize() < _MAX_MEMORY_BYTES:
        time.sleep(0.02)
    os._exit(1)


def _answer(answer: dict[str, str]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _main()
