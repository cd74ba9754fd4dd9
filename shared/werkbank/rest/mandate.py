"""What administrators settle for their mandate: its limit (AI-08), and which models may be used (AI-05, TB-04)."""

import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, get_args

from fastapi import APIRouter
from pydantic import Field

from werkbank.ai.model import ProviderName
from werkbank.ai.registry import listed_models
from werkbank.domain.base import WireModel
from werkbank.domain.errors import InvalidInput
from werkbank.domain.principal import Principal
from werkbank.domain.rights import ModelRight
from werkbank.rest.access import CurrentAdministrator, CurrentServices
from werkbank.rest.services import Services

router = APIRouter(tags=["mandate"])

# As a token's claim can name it.
_ROLE = re.compile(r"[^\s,\x00]{0,128}")


class Rights(WireModel):
    """All rights of the mandate. Without any, everyone may use every model; the built-in ones are always allowed."""

    rights: Annotated[tuple[ModelRight, ...], Field(max_length=100)]


class LimitChange(WireModel):
    """The new limit in CHF; null leaves the one that the operator of the installation has set."""

    limit_chf: Annotated[Decimal, Field(ge=0, max_digits=14, decimal_places=6)] | None


class Spending(WireModel):
    """What the mandate has spent, the limit that holds and the highest that may be set, in CHF; null is no limit."""

    spent_chf: Decimal
    limit_chf: Decimal | None
    highest_limit_chf: Decimal | None


@router.patch("/mandate")
def change_mandate(body: LimitChange, principal: CurrentAdministrator, services: CurrentServices) -> Spending:
    """Set what the mandate may spend, all that it has spent so far included; needs role admin.

    It holds from the next call on, of runs under way too. For a prepaid balance set the sum of what was paid in. One
    below what is spent refuses all further calls that cost anything.
    """
    highest = services.mandate_limit_chf
    if highest is not None and body.limit_chf is not None and body.limit_chf > highest:
        raise InvalidInput(f"The limit can be at most CHF {highest}. Ask the operator of this installation for more.")
    with services.database.session(principal) as session:
        session.mandates.ensure(highest)
        session.mandates.choose_limit(body.limit_chf, highest)
        spent, limit = session.mandates.spending()
    return Spending(spent_chf=spent, limit_chf=limit, highest_limit_chf=highest)


@router.get("/mandate/rights")
def get_rights(principal: CurrentAdministrator, services: CurrentServices) -> Rights:
    """Return which providers and models everyone (role "") and each role may use; null is any. Needs role admin."""
    return _rights(principal, services)


@router.put("/mandate/rights")
def replace_rights(body: Rights, principal: CurrentAdministrator, services: CurrentServices) -> Rights:
    """Replace all rights, from the next call to a model on; an empty list lifts all restrictions. Needs role admin.

    What a role may use adds to what everyone may. Files and questions are embedded by what everyone may use; after a
    change files are found by their words until they are indexed again.
    """
    _check_roles([right.role for right in body.rights])
    _check_names("provider", (right.providers for right in body.rights), get_args(ProviderName))
    known = {model.id for model in (*listed_models(), *services.ai.models)}
    _check_names("model", (right.models for right in body.rights), known)
    with services.database.session(principal) as session:
        session.mandates.ensure(services.mandate_limit_chf)
        session.rights.replace(body.rights)
    return _rights(principal, services)


def _rights(principal: Principal, services: Services) -> Rights:
    with services.database.session(principal) as session:
        return Rights(rights=session.rights.all())


def _check_roles(roles: list[str]) -> None:
    odd = [role for role in roles if not _ROLE.fullmatch(role)]
    if odd:
        raise InvalidInput(f"“{odd[0][:50]}” is no role. A role is what its group is called after “role:”.")
    twice = [role for role, times in Counter(roles).items() if times > 1]
    if twice:
        raise InvalidInput(f"The role “{twice[0]}” stands in the list twice. Put what it may use into one right.")
    if roles and "" not in roles:
        raise InvalidInput(
            'What a role may use adds to what everyone may. Add a right with the role "" that says what that is;'
            " null for its providers and models restricts nothing."
        )


def _check_names(kind: str, asked: Iterable[frozenset[str] | None], known: Iterable[str]) -> None:
    names = sorted(known)
    unknown = sorted({name for each in asked for name in each or ()}.difference(names))
    if unknown:
        raise InvalidInput(f"There is no {kind} “{unknown[0]}”. Those known are {', '.join(names)}.")
