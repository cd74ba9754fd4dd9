"""The page's files as answers of an HTTP API, with the headers that keep it safe."""

import base64
import json
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from werkbank.observability import Event

_TEXT = ("text/", "application/json", "application/javascript", "image/svg+xml", "application/manifest+json")
_FOREVER = "public, max-age=31536000, immutable"
_NEVER = "no-cache"


@dataclass(frozen=True, slots=True)
class SignIn:
    """Where the page signs in (OpenID Connect)."""

    issuer: str
    client_id: str
    authorize_url: str
    token_url: str
    logout_url: str


class Page:
    """The built page in a folder. `connect_origins` are the other origins it talks to."""

    def __init__(self, folder: Path, sign_in: SignIn, connect_origins: tuple[str, ...]) -> None:
        self._folder = folder.resolve()
        self._sign_in = sign_in
        self._headers = {
            "content-security-policy": _policy(connect_origins),
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "x-frame-options": "DENY",
            "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
            "strict-transport-security": "max-age=31536000",
        }

    def serve(self, path: str) -> Event:
        """Return the answer for a path; paths that name no file give the page, which knows its own routes."""
        if path == "/config.json":
            return self._answer(200, "application/json", self._config(), _NEVER)
        file = self._file(path)
        if file is None and path.startswith("/assets/"):
            return self._answer(404, "text/plain; charset=utf-8", b"There is no such file.", _NEVER)
        file = file or self._folder / "index.html"
        mime_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        cache = _FOREVER if path.startswith("/assets/") else _NEVER
        return self._answer(200, mime_type, file.read_bytes(), cache)

    def _file(self, path: str) -> Path | None:
        """Return the file of a path, never one outside the folder."""
        file = (self._folder / path.lstrip("/")).resolve()
        return file if file.is_file() and file.is_relative_to(self._folder) else None

    def _config(self) -> bytes:
        sign_in = self._sign_in
        return json.dumps(
            {
                "issuer": sign_in.issuer,
                "clientId": sign_in.client_id,
                "authorizeUrl": sign_in.authorize_url,
                "tokenUrl": sign_in.token_url,
                "logoutUrl": sign_in.logout_url,
                "scope": "openid email profile",
            }
        ).encode()

    def _answer(self, status: int, mime_type: str, body: bytes, cache: str) -> Event:
        is_text = mime_type.startswith(_TEXT)
        charset = "; charset=utf-8" if is_text and "charset" not in mime_type else ""
        return {
            "statusCode": status,
            "headers": {**self._headers, "content-type": mime_type + charset, "cache-control": cache},
            "body": body.decode() if is_text else base64.b64encode(body).decode(),
            "isBase64Encoded": not is_text,
        }


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL, as a content security policy names them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _policy(connect_origins: tuple[str, ...]) -> str:
    """Return a policy that runs nothing but the page's own scripts and styles."""
    return "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "font-src 'self'",
            "img-src 'self' data: blob:",
            "media-src 'self' blob:",
            " ".join(["connect-src 'self'", *connect_origins]),
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )
