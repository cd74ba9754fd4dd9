"""Principals come from verified claims alone."""

import pytest

from werkbank.domain.errors import Forbidden
from werkbank.rest.access import principal_of_claims


@pytest.mark.parametrize(
    "groups", [["mandate:acme", "role:admin"], "[mandate:acme role:admin]", "mandate:acme,role:admin"]
)
def test_groups_give_mandate_and_roles(groups: str | list[str]) -> None:
    principal = principal_of_claims({"sub": "u1", "cognito:groups": groups}, "Europe/Zurich", "de-CH,de;q=0.9")  # type: ignore[dict-item]
    assert (principal.user_id, principal.mandate_id, principal.roles) == ("u1", "acme", frozenset({"admin"}))
    assert (principal.zone, principal.language) == ("Europe/Zurich", "de")


@pytest.mark.parametrize("groups", [None, "", "[role:admin]", ["mandate:a", "mandate:b"]])
def test_user_of_no_mandate_or_several_is_refused(groups: str | list[str] | None) -> None:
    with pytest.raises(Forbidden, match="administrator"):
        principal_of_claims({"sub": "u1", "cognito:groups": groups}, None, None)  # type: ignore[dict-item]


@pytest.mark.parametrize(("zone", "language"), [(None, None), ("Nowhere", "*"), ("\n", ";;;")])
def test_odd_headers_fall_back(zone: str | None, language: str | None) -> None:
    principal = principal_of_claims({"sub": "u", "cognito:groups": ["mandate:m"]}, zone, language)
    assert (principal.zone, principal.language) == ("UTC", "en")
