"""What was spent and on what, through the API (AI-08)."""

from decimal import Decimal

import pytest

from infra.local.client import Client, Json, ProblemError
from tests.integration.stack.conftest import Script, ask


def totals(client: Client, by: str, **parameters: str) -> list[Json]:
    found: list[Json] = client.call("GET", f"/usage/{by}", params=parameters)["totals"]
    return found


def test_administrators_see_everybodys_and_others_their_own(admin: Client, member: Client, script: Script) -> None:
    question = script.add(["Enough."], about="What did that cost?")
    with member.socket() as socket:
        events = ask(socket, question)
    workflow_id = events[0]["data"]["workflowId"]
    (own,) = (total for total in totals(member, "workflow") if total["id"] == workflow_id)
    (seen,) = (total for total in totals(admin, "workflow") if total["id"] == workflow_id)
    assert (own["label"], seen["label"]) == (question, None), "nobody reads what another asked"
    # Remembering the run may cost something in between; `agent/test_usage.py` has the sums.
    assert 0 < own["calls"] <= seen["calls"]
    assert own["inputTokens"] > 0
    assert [total["id"] for total in totals(admin, "user")] == [member.call("GET", "/me")["userId"]]
    by_model = sum(Decimal(total["costChf"]) for total in totals(admin, "model"))
    assert 0 <= by_model <= Decimal(member.call("GET", "/usage")["spentChf"])
    assert totals(admin, "instance", since="2999-01-01T00:00:00+01:00") == []


@pytest.mark.parametrize(("path", "parameters"), [("colour", {}), ("workflow", {"since": "yesterday"})])
def test_what_cannot_be_counted_is_refused(client: Client, path: str, parameters: dict[str, str]) -> None:
    with pytest.raises(ProblemError) as refused:
        totals(client, path, **parameters)
    assert refused.value.status == 422
