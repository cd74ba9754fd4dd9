"""What administrators settle for their mandate, through the API (AI-05, AI-08, TB-04)."""

from decimal import Decimal

import pytest

from infra.local.client import Client, Json, ProblemError
from tests.integration.stack.conftest import Script, ask

NOTHING: Json = {"role": "", "providers": [], "models": None}


def answering(client: Client, script: Script) -> str:
    """Ask, and return the model that answered."""
    with client.socket() as socket:
        events = ask(socket, script.add(["Yes."], about="Is anybody there?"))
    (summary,) = (event["data"] for event in events if event["type"] == "agentSummary")
    return str(summary["model"])


def choices(client: Client) -> list[str]:
    return [model["id"] for model in client.call("GET", "/me")["models"]]


def test_rights_hold_from_the_next_call_on_until_they_are_lifted(admin: Client, member: Client, script: Script) -> None:
    assert admin.call("GET", "/mandate/rights") == {"rights": []}
    assert answering(member, script) == "private/scripted"
    rights = [NOTHING, {"role": "admin", "providers": ["private", "openai"], "models": ["private/scripted"]}]
    told = admin.call("PUT", "/mandate/rights", json={"rights": rights})
    assert (
        told
        == admin.call("GET", "/mandate/rights")
        == {"rights": [NOTHING, {**rights[1], "providers": ["openai", "private"]}]}
    )
    assert (choices(member), choices(admin)) == (["internal/extractive"], ["private/scripted"])
    assert answering(member, script) == "internal/extractive"
    assert answering(admin, script) == "private/scripted"
    assert admin.call("PUT", "/mandate/rights", json={"rights": []}) == {"rights": []}
    assert answering(member, script) == "private/scripted"


def test_members_neither_see_nor_change_rights(member: Client) -> None:
    for method, body in (("GET", None), ("PUT", {"rights": []})):
        with pytest.raises(ProblemError, match="administrator") as refused:
            member.call(method, "/mandate/rights", json=body)
        assert refused.value.status == 403


@pytest.mark.parametrize(
    ("rights", "told"),
    [
        ([{"role": "", "providers": ["antropic"]}], "antropic.*anthropic, bedrock"),
        ([{"role": "", "models": ["openai/gpt-1"]}], "openai/gpt-1.*anthropic/claude.*private/scripted"),
        ([NOTHING, NOTHING], "twice"),
        ([{"role": "research", "providers": None}], "adds to what everyone may"),
        ([{"role": "a,b", "providers": None}, NOTHING], "a,b.*is no role"),
        ([{"providers": "anthropic"}], "providers"),
        ([{"provider": ["anthropic"]}], "provider"),
    ],
)
def test_what_is_no_right_is_refused_in_words(admin: Client, rights: list[Json], told: str) -> None:
    with pytest.raises(ProblemError, match=told) as refused:
        admin.call("PUT", "/mandate/rights", json={"rights": rights})
    assert refused.value.status == 422
    assert admin.call("GET", "/mandate/rights") == {"rights": []}


def limits(client: Client) -> set[Decimal | None]:
    """Return the limit as it is told everywhere, once."""
    told = [client.call("GET", path)["limitChf"] for path in ("/me", "/usage")]
    return {None if limit is None else Decimal(limit) for limit in told}


def test_an_administrator_sets_the_limit_up_to_the_operators(admin: Client, member: Client) -> None:
    assert limits(member) == {Decimal(50)}, "as the template has it"
    told = admin.call("PATCH", "/mandate", json={"limitChf": "12.5"})
    assert {name: Decimal(amount) for name, amount in told.items()} == {
        "spentChf": 0, "limitChf": Decimal("12.5"), "highestLimitChf": 50,
    }  # fmt: skip
    assert limits(member) == limits(admin) == {Decimal("12.5")}
    with pytest.raises(ProblemError, match="at most CHF 50") as refused:
        admin.call("PATCH", "/mandate", json={"limitChf": "50.000001"})
    assert refused.value.status == 422
    assert limits(member) == {Decimal("12.5")}
    admin.call("PATCH", "/mandate", json={"limitChf": None})
    assert limits(member) == {Decimal(50)}


def test_members_do_not_set_the_limit(member: Client) -> None:
    with pytest.raises(ProblemError, match="administrator") as refused:
        member.call("PATCH", "/mandate", json={"limitChf": "1"})
    assert refused.value.status == 403


@pytest.mark.parametrize("limit", ["-1", "0.0000001", "NaN", "much", "1e30"])
def test_what_is_no_limit_is_refused(admin: Client, limit: str) -> None:
    for body in ({"limitChf": limit}, {}):
        with pytest.raises(ProblemError, match="limitChf") as refused:
            admin.call("PATCH", "/mandate", json=body)
        assert refused.value.status == 422
