"""A client of Werkbank as the page is one: signs in, speaks REST, uploads by presigned URL, listens on the socket.

Used by `make ask` and by the tests that use the system as a user would.
"""

import base64
import hashlib
import json
import mimetypes
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from websockets.sync.client import ClientConnection, connect

Json = dict[str, Any]

# After a silence like this the page asks what it has missed.
_SILENCE_SECONDS = 10.0
TERMINAL = frozenset({"complete", "stopped", "error"})


class ProblemError(Exception):
    """The API answered with a problem document (RFC 9457)."""

    def __init__(self, status: int, problem: Json) -> None:
        super().__init__(f"{problem.get('title')}: {problem.get('detail')}")
        self.status = status
        self.problem = problem


class Client:
    """One signed-in user at one address. `zone` is their IANA time zone."""

    def __init__(self, url: str, zone: str = "UTC", language: str = "en") -> None:
        self.url = url.rstrip("/")
        headers = {"X-User-Timezone": zone, "Accept-Language": language}
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def sign_in(self) -> None:
        """Sign in as the demo user of the local sign-in page: code flow with PKCE, as the page does it."""
        config = self._http.get("/config.json").raise_for_status().json()
        verifier = secrets.token_urlsafe(48)
        digest = hashlib.sha256(verifier.encode()).digest()
        asked = {
            "client_id": config["clientId"],
            "redirect_uri": f"{self.url}/",
            "response_type": "code",
            "scope": config["scope"],
            "state": secrets.token_urlsafe(16),
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        answer = self._http.post(config["authorizeUrl"], data=asked)
        code = parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]
        grant = {
            "grant_type": "authorization_code",
            "client_id": config["clientId"],
            "code": code,
            "redirect_uri": f"{self.url}/",
            "code_verifier": verifier,
        }
        tokens = self._http.post(config["tokenUrl"], data=grant).raise_for_status().json()
        self.use_token(tokens["access_token"])

    def use_token(self, access_token: str) -> None:
        """Act with this access token from now on."""
        self._http.headers["Authorization"] = f"Bearer {access_token}"

    def call(self, method: str, path: str, **arguments: Any) -> Any:
        """Call the REST API and return its JSON; raises ProblemError."""
        answer = self._http.request(method, f"/api{path}", **arguments)
        if answer.is_error:
            is_problem = answer.headers.get("content-type", "").startswith("application/problem+json")
            problem = answer.json() if is_problem else {"title": answer.reason_phrase, "detail": answer.text[:200]}
            raise ProblemError(answer.status_code, problem)
        return answer.json() if answer.content else None

    def upload(self, path: Path, name: str | None = None, data: bytes | None = None) -> Json:
        """Announce a file and send its bytes straight to storage; returns the file."""
        content = path.read_bytes() if data is None else data
        name = name or path.name
        mime_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        body = {"fileName": name, "mimeType": mime_type, "size": len(content)}
        announced: Json = self.call("POST", "/files", json=body)
        upload = announced["upload"]
        httpx.put(upload["url"], content=content, headers=upload["headers"], timeout=120).raise_for_status()
        file: Json = announced["file"]
        return file

    @contextmanager
    def socket(self) -> Iterator["Socket"]:
        """Open the WebSocket with a fresh ticket."""
        ticket = self.call("POST", "/socket-tickets")
        address = f"{ticket['socketUrl']}?ticket={ticket['ticket']}"
        # A browser sends no pings of the protocol's own either.
        with connect(address, max_size=2**20, open_timeout=30, ping_interval=None) as connection:
            yield Socket(connection)


class Socket:
    """An open WebSocket; events come as dictionaries."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    def send(self, **frame: Any) -> None:
        """Send a frame."""
        self._connection.send(json.dumps(frame))

    def send_raw(self, text: str) -> None:
        """Send a text as it is."""
        self._connection.send(text)

    def receive(self, timeout: float = 60) -> Json:
        """Return the next event. Raises TimeoutError after `timeout` seconds."""
        event: Json = json.loads(self._connection.recv(timeout))
        return event

    def events_of(self, run_id: str, after_seq: int = 0, timeout: float = 120) -> Iterator[Json]:
        """Yield a run's events after a number, each once and in order, up to and including its last one.

        As the page does: what came early waits for its predecessors, and after a silence or a gap the missed events are
        asked for, in as many parts as it takes. What belongs to no log (seq 0) is left out (fillers) but for a problem:
        it means that the run was refused, is yielded, and is the last. Raises TimeoutError after `timeout` seconds
        without anything new.
        """
        early: dict[int, Json] = {}
        has_asked = False
        due, quiet_since = after_seq + 1, time.monotonic()
        while True:
            try:
                event = self.receive(_SILENCE_SECONDS)
            except TimeoutError:
                if time.monotonic() - quiet_since > timeout:
                    raise
                self.send(action="resume", runId=run_id, afterSeq=due - 1)
                has_asked = True
                continue
            if (
                event.get("seq") == 0 and event["type"] == "error" and not has_asked
            ):  # else the run was only not written yet when we asked
                yield event
                return
            if event["type"] == "more" and event["runId"] == run_id:
                self.send(action="resume", runId=run_id, afterSeq=event["data"]["afterSeq"])
            if event.get("runId") == run_id and event["seq"] >= due:
                early[event["seq"]] = event
            while due in early:
                event = early.pop(due)
                due, quiet_since = due + 1, time.monotonic()
                yield event
                if event["type"] in TERMINAL:
                    return
