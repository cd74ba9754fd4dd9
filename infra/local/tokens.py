"""The HTTP API's JWT authorizer.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
"""

import asyncio
from typing import Any

import httpx
import jwt

from infra.local.apis import JwtAuthorizer


class UnauthorizedError(Exception):
    """No token, or one that is not valid here: 401."""


class ForbiddenError(Exception):
    """A valid token without the scope that the route asks for: 403."""


class TokenVerifier:
    """Checks access tokens against the issuer's published keys, which it fetches once from `keys_endpoint`.

    The issuer's name is AWS's (`https://cognito-idp.<region>.amazonaws.com/<pool>`), so the check is the same as there;
    only the address of its keys is local.
    """

    def __init__(self, keys_endpoint: str) -> None:
        self._endpoint = keys_endpoint
        self._keys: dict[str, jwt.PyJWKSet] = {}
        self._lock = asyncio.Lock()

    async def claims(self, header: str, authorizer: JwtAuthorizer) -> dict[str, Any]:
        """The claims of the token in an Authorization header. Raises UnauthorizedError and ForbiddenError."""
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise UnauthorizedError
        keys = await self._issuer_keys(authorizer.issuer)
        try:
            key = keys[jwt.get_unverified_header(token)["kid"]]
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=["RS256"],
                issuer=authorizer.issuer,
                options={"require": ["exp", "iat"], "verify_aud": False},
            )
        except (jwt.PyJWTError, KeyError) as error:
            raise UnauthorizedError from error
        # Cognito's access tokens carry no audience; API Gateway takes client_id in its place.
        audience = claims.get("aud", claims.get("client_id"))
        if not set(authorizer.audience) & set(audience if isinstance(audience, list) else [audience]):
            raise UnauthorizedError
        if authorizer.scopes and not set(authorizer.scopes) & set(str(claims.get("scope", "")).split()):
            raise ForbiddenError
        return claims

    async def _issuer_keys(self, issuer: str) -> jwt.PyJWKSet:
        async with self._lock:
            if issuer not in self._keys:
                async with httpx.AsyncClient() as client:
                    answer = await client.get(f"{self._endpoint}/{issuer.rsplit('/', 1)[-1]}/.well-known/jwks.json")
                answer.raise_for_status()
                self._keys[issuer] = jwt.PyJWKSet.from_dict(answer.json())
            return self._keys[issuer]


def claims_for_function(claims: dict[str, Any]) -> dict[str, str]:
    """Claims as the function receives them: API Gateway turns each into a string, a list into `[a b]`."""
    return {name: _text(value) for name, value in claims.items()}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{' '.join(_text(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
