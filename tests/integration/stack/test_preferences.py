"""Settings through the API: one's own, and an administrator's for everyone (WS-07)."""

from collections.abc import Iterator

import pytest

from infra.local.client import Client, ProblemError


@pytest.fixture(autouse=True)
def undecided(admin: Client, member: Client) -> Iterator[None]:
    yield
    admin.call("PATCH", "/mandate/preferences", json={"webSearchEnabled": None})
    member.call("PATCH", "/preferences", json={"webSearchEnabled": None})


def test_web_search_is_on_until_somebody_chooses(member: Client) -> None:
    assert member.call("GET", "/preferences") == {
        "webSearchEnabled": True,
        "own": {"webSearchEnabled": None},
        "mandate": {"webSearchEnabled": None},
        "canSearchWeb": False,
    }


def test_administrators_choice_holds_until_one_chooses_otherwise(admin: Client, member: Client) -> None:
    told = admin.call("PATCH", "/mandate/preferences", json={"webSearchEnabled": False})
    assert (told["webSearchEnabled"], told["mandate"]) == (False, {"webSearchEnabled": False})
    assert member.call("GET", "/preferences")["webSearchEnabled"] is False
    assert member.call("PATCH", "/preferences", json={"webSearchEnabled": True})["webSearchEnabled"] is True
    assert admin.call("GET", "/preferences")["webSearchEnabled"] is False
    assert member.call("PATCH", "/preferences", json={"webSearchEnabled": None})["webSearchEnabled"] is False


def test_member_may_not_choose_for_everyone(member: Client) -> None:
    with pytest.raises(ProblemError, match="administrator") as refused:
        member.call("PATCH", "/mandate/preferences", json={"webSearchEnabled": False})
    assert refused.value.status == 403


@pytest.mark.parametrize("body", [{}, {"webSearchEnabled": "maybe"}, {"webSearchEnabled": True, "other": 1}])
def test_what_is_no_choice_is_refused(member: Client, body: dict[str, object]) -> None:
    with pytest.raises(ProblemError) as refused:
        member.call("PATCH", "/preferences", json=body)
    assert refused.value.status == 422
