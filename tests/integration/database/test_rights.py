"""Only administrators write down which models their mandate's people may use (AI-05, TB-04)."""

import pytest

from tests.integration.conftest import new_member
from werkbank.database.connection import Database
from werkbank.domain.errors import Forbidden
from werkbank.domain.principal import Principal
from werkbank.domain.rights import ModelRight

EVERYONE = ModelRight(providers=frozenset({"anthropic", "openai"}))
RESEARCH = ModelRight(role="research", models=frozenset({"mistral/mistral-embed"}))


@pytest.fixture
def admin(database: Database, principal: Principal) -> Principal:
    return new_member(database, principal.mandate_id, "admin")


def test_the_list_is_replaced_as_a_whole(database: Database, admin: Principal) -> None:
    for rights in ([EVERYONE, RESEARCH], [RESEARCH, ModelRight()], [EVERYONE], []):
        with database.session(admin) as session:
            session.rights.replace(rights)
            assert session.rights.all() == tuple(sorted(rights, key=lambda right: right.role))


@pytest.mark.parametrize("rights", [[ModelRight()], [EVERYONE, RESEARCH]])
def test_the_database_refuses_others(
    database: Database, principal: Principal, admin: Principal, rights: list[ModelRight]
) -> None:
    with database.session(admin) as session:
        session.rights.replace([EVERYONE])
    with pytest.raises(Forbidden), database.session(principal) as session:
        session.rights.replace(rights)
    with database.session(principal) as session:
        session.rights.replace([])
        assert session.rights.all() == (EVERYONE,), "nor do they lift anything"


def test_another_mandates_rights_are_neither_seen_nor_touched(database: Database, admin: Principal) -> None:
    with database.session(admin) as session:
        session.rights.replace([EVERYONE])
    with database.session(new_member(database, None, "admin")) as session:
        assert session.rights.all() == ()
        session.rights.replace([RESEARCH])
        session.rights.replace([])
    with database.session(admin) as session:
        assert session.rights.all() == (EVERYONE,)
