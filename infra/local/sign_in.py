"""The local sign-in page: OpenID Connect code flow with PKCE for the one demo user, in front of moto's Cognito.

Paths and parameters are those of Cognito's managed login, and the tokens are Cognito's, so that everything that follows
is the production path. https://docs.aws.amazon.com/cognito/latest/developerguide/federation-endpoints.html, RFC 7636
"""

import asyncio
import hashlib
import html
import secrets
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from infra.local.aws import Aws
from infra.local.users import DEMO_USER, UserPool

_CODE_SECONDS = 60
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in – Werkbank on this machine</title>
<style>
  :root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
  body {{ min-height: 100vh; margin: 0; display: grid; place-items: center }}
  main {{ max-width: 22rem; padding: 2rem }}
  h1 {{ font-size: 1.25rem; margin: 0 0 .5rem }}
  button {{ font: inherit; padding: .6rem 1.2rem; width: 100%; cursor: pointer; margin-top: 1rem }}
</style></head>
<body><main><h1>Local sign-in</h1>
<p>Werkbank runs on this machine only. There are no accounts here: everybody is the demo user.</p>
<form method="post" action="/oauth2/authorize">{fields}
<button type="submit" autofocus>Continue as demo user</button></form>
</main></body></html>"""


async def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50))


class _RefusedError(Exception):
    """A request that OAuth answers with an error; the text is for developers."""


@dataclass(frozen=True)
class _Code:
    challenge: str
    redirect_uri: str
    issued: float


class SignIn:
    """The authorize, token and logout endpoints, on the gateway's own origin."""

    def __init__(self, aws: Aws, pool: UserPool, origin: str) -> None:
        self._aws = aws
        self._pool = pool
        self._origins = {origin, origin.replace("127.0.0.1", "localhost")}
        self._codes: dict[str, _Code] = {}

    def routes(self) -> list[Route]:
        """The three endpoints."""
        return [
            Route("/oauth2/authorize", self._show, methods=["GET"]),
            Route("/oauth2/authorize", self._continue, methods=["POST"]),
            Route("/oauth2/token", self._token, methods=["POST"]),
            Route("/logout", self._logout, methods=["GET"]),
        ]

    async def _show(self, request: Request) -> Response:
        asked = dict(request.query_params)
        try:
            self._check(asked)
        except _RefusedError as error:
            return HTMLResponse(f"<h1>Sign-in refused</h1><p>{html.escape(str(error))}</p>", 400)
        fields = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in asked.items()
        )
        # A page that shows itself inside another could be clicked without being seen.
        headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
        return HTMLResponse(_PAGE.format(fields=fields), headers=headers)

    async def _continue(self, request: Request) -> Response:
        asked = await _form(request)
        try:
            redirect_uri = self._check(asked)
        except _RefusedError as error:
            return HTMLResponse(f"<h1>Sign-in refused</h1><p>{html.escape(str(error))}</p>", 400)
        code = secrets.token_urlsafe(24)
        self._codes[code] = _Code(asked["code_challenge"], redirect_uri, time.monotonic())
        answer = {"code": code} | ({"state": asked["state"]} if "state" in asked else {})
        separator = "&" if "?" in redirect_uri else "?"
        return RedirectResponse(f"{redirect_uri}{separator}{urlencode(answer)}", 303)

    def _check(self, asked: dict[str, str]) -> str:
        """The redirect address of a valid authorization request."""
        if asked.get("client_id") != self._pool.client_id:
            raise _RefusedError("unknown client_id")
        redirect_uri = asked.get("redirect_uri", "")
        self._check_own(redirect_uri, "redirect_uri")
        if asked.get("response_type") != "code":
            raise _RefusedError("response_type must be code")
        if asked.get("code_challenge_method") != "S256" or not asked.get("code_challenge"):
            raise _RefusedError("PKCE with S256 is required")
        return redirect_uri

    def _check_own(self, uri: str, name: str) -> None:
        parts = urlsplit(uri)
        if f"{parts.scheme}://{parts.netloc}" not in self._origins:
            raise _RefusedError(f"{name} must be on this page's own address")

    async def _token(self, request: Request) -> Response:
        asked = await _form(request)
        headers = {"Cache-Control": "no-store"}
        try:
            return JSONResponse(await self._grant(asked), headers=headers)
        except _RefusedError as error:
            return JSONResponse({"error": str(error)}, 400, headers=headers)

    async def _grant(self, asked: dict[str, str]) -> dict[str, Any]:
        if asked.get("client_id") != self._pool.client_id:
            raise _RefusedError("invalid_client")
        if asked.get("grant_type") == "authorization_code":
            self._redeem(asked)
            flow = {"USERNAME": DEMO_USER, "PASSWORD": self._pool.password}
            return await asyncio.to_thread(self._tokens, "ADMIN_USER_PASSWORD_AUTH", flow)
        if asked.get("grant_type") == "refresh_token":
            return await asyncio.to_thread(
                self._tokens, "REFRESH_TOKEN_AUTH", {"REFRESH_TOKEN": asked.get("refresh_token", "")}
            )
        raise _RefusedError("unsupported_grant_type")

    def _redeem(self, asked: dict[str, str]) -> None:
        """Uses up the code, whatever comes of it. Raises _RefusedError unless the verifier proves who asked for it."""
        code = self._codes.pop(asked.get("code", ""), None)
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        verifier = urlsafe_b64encode(digest).rstrip(b"=").decode()
        if code is None or time.monotonic() - code.issued > _CODE_SECONDS:
            raise _RefusedError("invalid_grant")
        if not secrets.compare_digest(verifier, code.challenge) or asked.get("redirect_uri") != code.redirect_uri:
            raise _RefusedError("invalid_grant")

    def _tokens(self, flow: str, parameters: dict[str, str]) -> dict[str, Any]:
        from botocore.exceptions import ClientError

        try:
            result = self._aws.client("cognito-idp").admin_initiate_auth(
                UserPoolId=self._pool.pool_id,
                ClientId=self._pool.client_id,
                AuthFlow=flow,
                AuthParameters=parameters,
            )["AuthenticationResult"]
        except ClientError as error:
            raise _RefusedError("invalid_grant") from error
        answer = {
            "access_token": result["AccessToken"],
            "id_token": result["IdToken"],
            "token_type": "Bearer",
            "expires_in": result["ExpiresIn"],
        }
        return answer | ({"refresh_token": result["RefreshToken"]} if "RefreshToken" in result else {})

    async def _logout(self, request: Request) -> Response:
        target = request.query_params.get("logout_uri", request.query_params.get("redirect_uri", ""))
        try:
            self._check_own(target, "logout_uri")
        except _RefusedError as error:
            return HTMLResponse(f"<h1>Sign-out refused</h1><p>{html.escape(str(error))}</p>", 400)
        return RedirectResponse(target, 303)
