# KS-06
import pytest
from hypothesis import given
from hypothesis import strategies as st

from werkbank.knowledge.fusion import fuse, fuse_ranks, vector_weight
from werkbank.knowledge.model import Candidate


def test_what_both_rankings_like_comes_first() -> None:
    fused = fuse([Candidate("words", 0.2, 9.0), Candidate("both", 0.8, 8.0), Candidate("meaning", 0.8, 0.0)], 1.0)
    assert next(iter(fused)) == "both"


def test_a_clear_lead_counts_more_than_a_narrow_one() -> None:
    by_words = [Candidate("a", 0.50, 20.0), Candidate("b", 0.52, 1.0), Candidate("c", 0.10, 0.9)]
    assert next(iter(fuse(by_words, 1.0))) == "a"


def test_scale_and_offset_of_a_models_cosines_do_not_matter() -> None:
    wide = [Candidate("a", 0.1, 1.0), Candidate("b", 0.9, 0.5), Candidate("c", 0.4, 2.0)]
    narrow = [Candidate(c.chunk_id, 0.75 + (c.similarity or 0) / 10, c.text_score) for c in wide]
    assert fuse(wide, 1.0) == pytest.approx(fuse(narrow, 1.0))


def test_without_vectors_words_decide() -> None:
    assert list(fuse([Candidate("a", None, 1.0), Candidate("b", None, 3.0)], 0.0)) == ["b", "a"]


def test_a_passage_of_another_model_counts_as_least_similar() -> None:  # KS-07
    fused = fuse([Candidate("known", 0.4, 1.0), Candidate("least", 0.1, 1.0), Candidate("foreign", None, 1.0)], 1.0)
    assert fused["foreign"] == fused["least"] < fused["known"]


def test_nothing_gives_nothing() -> None:
    assert fuse([], 1.0) == {}


@given(
    st.lists(st.builds(Candidate, st.uuids().map(str), st.none() | st.floats(-1, 1), st.floats(0, 100)), max_size=20)
)
def test_every_candidate_is_ranked_whatever_the_order_they_come_in(candidates: list[Candidate]) -> None:
    unique = list({candidate.chunk_id: candidate for candidate in candidates}.values())
    fused = fuse(unique, 1.5)
    assert set(fused) == {candidate.chunk_id for candidate in unique}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


def test_the_offline_embedder_weighs_less_than_words_and_a_trained_one_more() -> None:
    assert vector_weight("internal/hashing-1536") < 1 < vector_weight("private/multilingual-e5-small")


RANKS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.tuples(*[st.one_of(st.none(), st.integers(1, 50))] * 3),
    max_size=8,
)


@given(RANKS)
def test_ranks_are_fused_best_first(ranks: dict[str, tuple[int | None, ...]]) -> None:  # AG-17
    fused = fuse_ranks(ranks)
    assert fused.keys() == ranks.keys()
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


@given(RANKS, st.integers(1, 50))
def test_another_ranking_never_harms(ranks: dict[str, tuple[int | None, ...]], rank: int) -> None:  # AG-17
    for id, places in ranks.items():
        raised = fuse_ranks({**ranks, id: (*places, rank)})
        assert list(raised).index(id) <= list(fuse_ranks(ranks)).index(id)


def test_what_two_rankings_know_comes_before_what_one_does() -> None:  # AG-17
    assert list(fuse_ranks({"a": (1, None, None), "b": (2, 2, None), "c": (None, None, 3)})) == ["b", "a", "c"]
