"""Who searches the web: the default, then the mandate's choice, then one's own (WS-07)."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.conftest import new_member
from werkbank.database.connection import Database
from werkbank.domain.errors import Forbidden
from werkbank.domain.preferences import Preferences
from werkbank.domain.principal import Principal

CHOICES = st.sampled_from([None, True, False])


@settings(max_examples=9, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(own=CHOICES, mandate=CHOICES)
def test_own_choice_outranks_the_mandates_which_outranks_the_default(
    database: Database, own: bool | None, mandate: bool | None
) -> None:
    admin = new_member(database, None, "admin")
    with database.session(admin) as session:
        session.preferences.choose_for_mandate(Preferences(web_search_enabled=mandate))
        session.preferences.choose(Preferences(web_search_enabled=own))
        held = session.preferences.settings()
    assert (held.own.web_search_enabled, held.mandate.web_search_enabled) == (own, mandate)
    assert held.web_search_enabled == next(each for each in (own, mandate, True) if each is not None)


def test_only_an_administrator_chooses_for_the_mandate(database: Database, principal: Principal) -> None:
    with pytest.raises(Forbidden), database.session(principal) as session:
        session.preferences.choose_for_mandate(Preferences(web_search_enabled=False))
    admin = new_member(database, principal.mandate_id, "admin")
    with database.session(admin) as session:
        session.preferences.choose_for_mandate(Preferences(web_search_enabled=False))
    with pytest.raises(Forbidden), database.session(principal) as session:
        session.preferences.choose_for_mandate(Preferences(web_search_enabled=True))
    with database.session(principal) as session:
        assert not session.preferences.settings().web_search_enabled, "it holds for everyone of the mandate"
    with database.session(new_member(database)) as session:
        assert session.preferences.settings().web_search_enabled, "and for no other mandate"


def test_ones_own_choice_is_nobody_elses(database: Database, principal: Principal) -> None:
    with database.session(principal) as session:
        session.preferences.choose(Preferences(web_search_enabled=False))
    with database.session(new_member(database, principal.mandate_id, "admin")) as session:
        assert session.preferences.settings().web_search_enabled
        assert session.connection.execute("SELECT * FROM user_preference").fetchall() == []
