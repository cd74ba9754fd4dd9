"""What the functions read from their environment."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from werkbank.config import MandateSettings


@pytest.mark.parametrize(("given", "limit"), [("50", Decimal(50)), ("0.5", Decimal("0.5")), ("unlimited", None)])
def test_the_operators_limit(monkeypatch: pytest.MonkeyPatch, given: str, limit: Decimal | None) -> None:
    monkeypatch.setenv("MANDATE_LIMIT_CHF", given)
    assert MandateSettings().mandate_limit_chf == limit


@pytest.mark.parametrize("given", ["", "none", None])
def test_no_limit_is_never_read_out_of_a_slip(monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    if given is None:
        monkeypatch.delenv("MANDATE_LIMIT_CHF", raising=False)
    else:
        monkeypatch.setenv("MANDATE_LIMIT_CHF", given)
    with pytest.raises(ValidationError):
        MandateSettings()
