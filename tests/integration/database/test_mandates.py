"""A mandate's limit: the lesser of what its administrators choose and what the operator allows (AI-08)."""

from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.conftest import new_member
from werkbank.database.connection import Database
from werkbank.domain.errors import Forbidden, InvalidInput
from werkbank.domain.principal import Principal

LIMITS = st.none() | st.integers(0, 3).map(Decimal)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=st.lists(LIMITS, max_size=2), highest=st.lists(LIMITS, min_size=1, max_size=3))
def test_the_lesser_of_the_latest_choice_and_what_the_operator_allows_now_holds(
    database: Database, chosen: list[Decimal | None], highest: list[Decimal | None]
) -> None:
    admin = new_member(database, None, "admin")
    with database.session(admin) as session:
        for choice in chosen:
            session.mandates.choose_limit(choice, highest[0])
        for allowed in highest:  # as deployments change the parameter, and its own members come by
            session.mandates.ensure(allowed)
            holding = [limit for limit in (*chosen[-1:], allowed) if limit is not None]
            assert session.mandates.spending() == (Decimal(0), min(holding, default=None))


def test_only_administrators_choose(database: Database, limited_principal: Principal) -> None:
    with pytest.raises(Forbidden), database.session(limited_principal) as session:
        session.mandates.choose_limit(Decimal(100), None)
    with database.session(new_member(database, None, "admin")) as session:
        session.mandates.choose_limit(Decimal(100), None)  # of their own mandate alone
    with database.session(limited_principal) as session:
        assert session.mandates.spending()[1] == 1


def test_no_limit_is_below_nothing(database: Database) -> None:
    with pytest.raises(InvalidInput), database.session(new_member(database, None, "admin")) as session:
        session.mandates.choose_limit(Decimal(-1), None)


def test_coming_by_locks_nothing_while_the_limit_stays(database: Database, limited_principal: Principal) -> None:
    # Whoever moves money waits for the mandate's row; a start or an upload must not hold it.
    with database.session(limited_principal) as session:
        session.mandates.ensure(Decimal(5))
        assert session.mandates.spending()[1] == 1
        with database.session(limited_principal) as other:
            assert other.connection.execute("SELECT 1 FROM mandate FOR UPDATE NOWAIT").fetchone()
