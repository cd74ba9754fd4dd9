# KS-06
from collections.abc import Sequence
from typing import Literal

import pytest

from tests.integration.conftest import new_member
from tests.integration.knowledge.library import MODEL, add_file, embed
from werkbank.database.connection import Database
from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.principal import Principal
from werkbank.knowledge.model import Embedded, QueryVector, SearchFilter
from werkbank.knowledge.retrieval import search

PARAGRAPHS = (
    "Die Kündigungsfristen betragen drei Monate auf Ende eines Quartals.",
    "Der Mietzins von 1 450 Franken ist am Ersten jedes Monats fällig.",
    "Haustiere sind nach Absprache mit der Verwaltung erlaubt.",
    "Das Aktenzeichen lautet ZH-2024/77831 und ist stets anzugeben.",
    "Running costs such as heating are settled once a year in June.",
    "Die Versicherung deckt Schäden durch Wasser und Feuer; Wasserschäden sind sofort zu melden.",
)


@pytest.fixture
def tenant(database: Database) -> Principal:
    principal = new_member(database)
    add_file(database, principal, *PARAGRAPHS, name="Mietvertrag.txt")
    return principal


def first(database: Database, principal: Principal, question: str) -> str:
    return search(database, embed, principal, question)[0].text


@pytest.mark.parametrize(
    ("question", "paragraph"),
    [
        ("ZH-2024/77831", 3),  # an exact term
        ("Wie lange ist die Frist für eine Kündigung?", 0),  # the parts of a compound
        ("Darf ich ein Haustier halten?", 2),  # inflection
        ("Wann sind die Mietzinse fällig?", 1),
        ("when is the running cost settled?", 4),  # English
        ("Wasserschaden", 5),
        ("heating costs", 4),  # no function word tells the language
    ],
)
def test_finds_exact_terms_inflections_and_compounds(
    database: Database, tenant: Principal, question: str, paragraph: int
) -> None:
    assert first(database, tenant, question) == PARAGRAPHS[paragraph]


def test_passages_can_be_cited(database: Database, tenant: Principal) -> None:  # KS-05
    passage = search(database, embed, tenant, "Haustiere")[0]
    assert (passage.file_name, passage.place) == ("Mietvertrag.txt", "Mietvertrag.txt, page 3")
    assert passage.source.quote == PARAGRAPHS[2]
    assert passage.source.ref["pageIndex"] == 3


def test_results_are_limited_and_best_first(database: Database, tenant: Principal) -> None:
    found = search(database, embed, tenant, "Mietzins Franken", limit=3)
    assert len(found) == 3
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)


def test_a_search_can_be_narrowed_to_files_and_scopes(database: Database, tenant: Principal) -> None:
    other = add_file(database, tenant, "Der Mietzins der Garage beträgt 150 Franken.", name="Garage.txt")
    narrowed = search(database, embed, tenant, "Mietzins", SearchFilter(file_ids=(other,)))
    assert {passage.file_id for passage in narrowed} == {other}
    assert search(database, embed, tenant, "Mietzins", SearchFilter(file_ids=())) == ()
    assert search(database, embed, tenant, "Mietzins", SearchFilter(scopes=("mandate",))) == ()


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "der die das",
        "'",
        "a & b | !c <-> (d:*)",
        "\\",
        "%s %(x)s",
        "🙂",
        "\x00",
        "x" * 5000,
        "''' OR 1=1 --",
    ],
)
def test_odd_questions_are_harmless(database: Database, tenant: Principal, question: str) -> None:
    assert isinstance(search(database, embed, tenant, question), tuple)


def test_words_alone_find_when_the_embedder_is_down(database: Database, tenant: Principal) -> None:
    def broken(texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embedded:
        raise ProviderUnavailable("down")

    assert search(database, broken, tenant, "Haustiere")[0].text == PARAGRAPHS[2]


def test_vectors_of_another_model_are_not_compared(database: Database, tenant: Principal) -> None:  # KS-07
    foreign = QueryVector([1.0] * 384, "private/another")
    with database.session(tenant) as session:
        candidates = session.knowledge.passages.candidates("Haustiere", foreign, SearchFilter(), 10)
    assert candidates
    assert {candidate.similarity for candidate in candidates} == {None}


def test_each_candidate_has_both_figures(database: Database, tenant: Principal) -> None:
    vector = QueryVector(embed(["Wasserschaden"], "query").vectors[0], MODEL.id)
    with database.session(tenant) as session:
        candidates = session.knowledge.passages.candidates("Mietzins", vector, SearchFilter(), 1)
    by_text = {candidate.text_score > 0: candidate for candidate in candidates}
    assert len(candidates) == len(by_text) == 2
    assert all(candidate.similarity is not None for candidate in candidates)


def test_an_empty_store_finds_nothing(database: Database, principal: Principal) -> None:
    assert search(database, embed, principal, "Mietzins") == ()
