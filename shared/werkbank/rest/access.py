"""Who asks: claims that API Gateway's authorizer has verified, never anything of the request's own."""

import re
from typing import Annotated

from fastapi import Depends, Request
from pydantic import JsonValue

from werkbank.domain.errors import Forbidden
from werkbank.domain.principal import Principal
from werkbank.domain.time import valid_zone
from werkbank.rest.services import Services

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}")


def principal_of_claims(claims: dict[str, JsonValue], zone: str | None, language: str | None) -> Principal:
    """Return the principal of verified claims. Raises Forbidden for a user of no mandate, or of several."""
    groups = _groups(claims.get("cognito:groups"))
    mandates = [name.removeprefix("mandate:") for name in groups if name.startswith("mandate:")]
    if len(mandates) != 1:
        raise Forbidden("Your account belongs to no organisation here yet. Ask your administrator to add you.")
    tag = _LANGUAGE.match(language or "")
    return Principal(
        user_id=str(claims["sub"]), mandate_id=mandates[0],
        roles=frozenset(name.removeprefix("role:") for name in groups if name.startswith("role:")),
        zone=valid_zone(zone), language=tag.group().lower() if tag else "en",
    )  # fmt: skip


def _groups(claim: JsonValue) -> list[str]:
    """Read the groups claim; API Gateway passes lists on as one text, `[a b]`."""
    if isinstance(claim, list):
        return [str(name) for name in claim]
    return str(claim or "").strip("[]").replace(",", " ").split()


def _principal(request: Request) -> Principal:
    claims = request.scope["aws.event"]["requestContext"]["authorizer"]["jwt"]["claims"]
    return principal_of_claims(claims, request.headers.get("x-user-timezone"), request.headers.get("accept-language"))


def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


CurrentPrincipal = Annotated[Principal, Depends(_principal)]


def _administrator(principal: CurrentPrincipal) -> Principal:
    if "admin" not in principal.roles:
        raise Forbidden("Only an administrator of your organisation may change or see this.")
    return principal


CurrentAdministrator = Annotated[Principal, Depends(_administrator)]
CurrentServices = Annotated[Services, Depends(_services)]
