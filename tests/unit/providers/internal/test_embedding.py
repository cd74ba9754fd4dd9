import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embeddings import joined
from werkbank.ai.model import Model
from werkbank.domain.errors import RequestRejected
from werkbank.providers.internal.embedding import HashingEmbedder

MODEL = Model(
    id="internal/hashing-1536", provider="internal", name="hashing-1536", label="Offline", context_window=1_000_000,
    max_output_tokens=0, embedding_dimension=1536,
)  # fmt: skip


def embed(*texts: str) -> list[list[float]]:
    return joined(HashingEmbedder().embed(MODEL, texts, 10)).vectors


def similarity(one: str, other: str) -> float:
    first, second = embed(one, other)
    return sum(a * b for a, b in zip(first, second, strict=True))


@given(st.lists(st.text(), max_size=3))
def test_every_text_gets_a_vector_of_the_models_dimension_and_of_length_one(texts: list[str]) -> None:
    for vector in embed(*texts):
        length = math.sqrt(sum(value * value for value in vector))
        assert len(vector) == 1536
        assert math.isclose(length, 1.0, abs_tol=1e-9) or length == 0.0


def test_a_text_without_words_is_the_zero_vector() -> None:
    assert not any(embed("… – !")[0])


def test_the_same_text_always_gives_the_same_vector() -> None:
    assert embed("Der metrische Raum")[0] == embed("Der metrische Raum")[0]


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Häuser", "Das Haus am See", "Der Vertrag mit Kunden"),  # inflection
        ("Kündigungsfrist", "Die Frist zur Kündigung beträgt drei Monate", "Die Miete beträgt 900 Franken"),  # compound
        ("running costs", "The costs of running it", "A letter about holidays"),
        ("Rechnung 4711", "Zahlung zu Beleg 4711", "Zahlung zu Beleg 4712"),
    ],
)
def test_what_belongs_together_is_nearer(question: str, near: str, far: str) -> None:
    assert similarity(question, near) > similarity(question, far) + 0.05


def test_function_words_hardly_count() -> None:
    assert similarity("Was ist ein metrischer Raum?", "metrischer Raum") > 0.95


def test_a_word_said_often_does_not_drown_the_others() -> None:
    assert similarity("Vertrag Miete Frist " + "Vertrag " * 50, "Vertrag Miete Frist") > 0.6


def test_a_model_without_dimension_is_refused() -> None:
    with pytest.raises(RequestRejected):
        joined(HashingEmbedder().embed(MODEL.model_copy(update={"embedding_dimension": None}), ["text"], 10))


def test_words_are_counted_as_usage() -> None:
    assert joined(HashingEmbedder().embed(MODEL, ["one two", "three"], 10)).usage.input_tokens == 3
