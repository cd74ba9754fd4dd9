"""`make ask FILE=report.pdf Q="…"`: the main job without a browser. Exit code 0 only when the answer is complete."""

import os
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from infra.local.account import StartError
from infra.local.client import Client, Json, ProblemError
from infra.local.stack import LocalStack

_INDEX_SECONDS = 600
_POLL_SECONDS = 0.3

console = Console(highlight=False)


def main(arguments: list[str]) -> int:
    """Ask one question about one file; returns the exit code."""
    if len(arguments) != 2 or not all(arguments):
        console.print('Usage: make ask FILE=report.pdf Q="What does it say about rents?"')
        return 2
    path, question = Path(arguments[0]), arguments[1]
    if not path.is_file():
        console.print(f"There is no file {path}.")
        return 2
    try:
        with _running() as url:
            client = Client(url, zone=_zone(), language=os.environ.get("LANG", "en")[:2])
            client.sign_in()
            file = _indexed(client, path)
            return 1 if file is None else _ask(client, file, question)
    except (StartError, ProblemError, httpx.HTTPError, TimeoutError) as error:
        console.print(f"[red]{error}[/red]")
        return 1


def _zone() -> str:
    """Return the machine's own time zone, which is the user's here."""
    name = os.environ.get("TZ", "")
    link = Path("/etc/localtime")
    return name or (str(link.resolve()).partition("zoneinfo/")[2] if link.is_symlink() else "") or "UTC"


@contextmanager
def _running() -> Iterator[str]:
    """Yield the address of a running Werkbank, starting one for the time of the question if none is up."""
    url = f"http://127.0.0.1:{os.environ.get('PORT', '8080')}"
    try:
        httpx.get(f"{url}/config.json", timeout=2).raise_for_status()
    except httpx.HTTPError:
        console.print("Starting Werkbank for this question …")
        with LocalStack(port=0) as stack:
            yield stack.url
    else:
        yield url


def _indexed(client: Client, path: Path) -> Json | None:
    """Upload the file unless it is there already, and wait for its index; None when it cannot be indexed."""
    file = _known(client, path) or client.upload(path)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[status]}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(f"Indexing {path.name}", total=1.0, status="uploaded")
        deadline = time.monotonic() + _INDEX_SECONDS
        while file["status"] not in {"indexed", "failed"}:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path.name} was not indexed within {_INDEX_SECONDS} seconds.")
            time.sleep(_POLL_SECONDS)
            file = client.call("GET", f"/files/{file['id']}")
            progress.update(task, completed=_progress(client, file), status=file["status"])
        progress.update(task, completed=1.0)
    if file["status"] == "failed":
        console.print(f"[red]{path.name} cannot be read: {file['statusReason']}[/red]")
        return None
    return file


def _known(client: Client, path: Path) -> Json | None:
    """Return the file if one of this name and size is indexed or on its way."""
    files: list[Json] = client.call("GET", "/files", params={"search": path.name})["files"]
    same = [f for f in files if f["fileName"] == path.name and f["size"] == path.stat().st_size]
    return next((file for file in same if file["status"] != "failed"), None)


def _progress(client: Client, file: Json) -> float:
    if not file["indexRunId"]:
        return 0.0
    events = client.call("GET", f"/runs/{file['indexRunId']}/events")["events"]
    return max((event["data"]["progress"] for event in events if event["type"] == "indexProgress"), default=0.0)


def _ask(client: Client, file: Json, question: str) -> int:
    run_id = str(uuid.uuid4())
    shown = _Shown()
    with client.socket() as socket:
        socket.send(action="run", runId=run_id, prompt=question, fileIds=[file["id"]])
        for event in socket.events_of(run_id):
            shown.show(event)
    return 0 if shown.is_complete else 1


class _Shown:
    """Prints a run's events as they come."""

    def __init__(self) -> None:
        self.is_complete = False
        self._streamed = ""

    def show(self, event: Json) -> None:
        """Print one event."""
        data = event["data"]
        match event["type"]:
            case "toolCall":
                console.print(f"[dim]→ {data['name']} {data['arguments']}[/dim]", markup=True)
            case "toolResult" if not data["success"]:
                console.print(f"[dim]  failed: {data['summary']}[/dim]")
            case "chunk":
                self._streamed += data["text"]
                console.print(data["text"], end="", markup=False)
            case "message" if not self._streamed.endswith(data["content"]):
                console.print(data["content"], markup=False)
            case "citations":
                console.print()
                for source in data["citations"]:
                    console.print(f"  [{source['number']}] {source['place']}", markup=False)
            case "agentSummary":
                self._summary(data)
            case "complete":
                self.is_complete = data["status"] == "completed"
            case "error":
                console.print(f"\n[red]{data['title']}: {data['detail']}[/red]")

    def _summary(self, data: Json) -> None:
        model = "offline model (quotes your file; set a model key for more)" if data["offline"] else data["model"]
        tokens = data["inputTokens"] + data["outputTokens"]
        console.print(
            f"\n{data['rounds']} rounds · {data['toolCalls']} tools · {tokens:,} tokens · CHF {data['costChf']}"
            f" · {data['durationMs'] / 1000:.1f} s · {model}",
            style="dim",
            markup=False,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
