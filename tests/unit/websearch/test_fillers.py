"""Fillers: at once, then patiently, then never again (WS-05)."""

import random
import threading
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from werkbank.domain.errors import ProviderUnavailable
from werkbank.websearch.fillers import PATIENCE_SECONDS, FillerLanguages, FillerSchedule, FillerTexts, telling

TEXTS = FillerTexts(opening=("o1", "o2"), patience=("p1", "p2", "p3"))


def untranslated(phrases: Sequence[str], language: str) -> Sequence[str]:
    raise ProviderUnavailable("down")


@given(
    steps=st.lists(st.integers(0, 30), min_size=1, max_size=40),
    answer_at=st.integers(0, 40),
    interval=st.integers(-5, 25),
    seed=st.integers(0, 99),
)
def test_schedule(steps: list[int], answer_at: int, interval: int, seed: int) -> None:
    schedule = FillerSchedule(TEXTS, random.Random(seed).choice, interval)
    now, told = 100.0, list[tuple[float, str]]()
    for position, step in enumerate(steps):
        if position == answer_at:
            schedule.answer_began()
        text = schedule.due(now)
        assert text is None or position < answer_at, "never after the answer began"
        wait = schedule.wait_seconds(now)
        assert (wait is None) == (position >= answer_at)
        if text is not None:
            told.append((now, text))
            assert wait is not None
            assert wait >= PATIENCE_SECONDS
        now += step
    if answer_at > 0:
        assert told[0][0] == 100.0, "an opening at once"
    assert [text in (TEXTS.patience if position else TEXTS.opening) for position, (_, text) in enumerate(told)] == [
        True
    ] * len(told)
    for (before, one), (after, other) in pairwise(told):
        assert after - before >= PATIENCE_SECONDS
        assert one != other, "not the same twice running"


def test_waiting_exactly_as_long_as_told_is_enough() -> None:
    schedule = FillerSchedule(TEXTS, random.Random(1).choice)
    assert schedule.wait_seconds(5.0) == 0
    assert schedule.due(5.0) in TEXTS.opening
    wait = schedule.wait_seconds(8.0)
    assert wait == 7.0
    assert schedule.due(8.0 + wait) in TEXTS.patience


def test_a_single_phrase_may_be_repeated() -> None:
    schedule = FillerSchedule(FillerTexts(opening=("a",), patience=("a",)), random.Random(1).choice)
    assert [schedule.due(0.0), schedule.due(10.0), schedule.due(20.0)] == ["a", "a", "a"]


@pytest.mark.parametrize("language", ["de", "de-CH", "EN", "fr-FR", "it", "nl"])
def test_kept_languages_need_no_translation(language: str) -> None:
    texts = FillerLanguages(untranslated).texts(language)
    assert len(texts.opening) >= 3
    assert len(texts.patience) >= 3


def test_other_languages_are_translated_once() -> None:
    asked: list[str] = []

    def translate(phrases: Sequence[str], language: str) -> Sequence[str]:
        asked.append(language)
        return [f"{language}: {phrase}" for phrase in phrases]

    languages = FillerLanguages(translate)
    assert languages.texts("es-MX").opening[0].startswith("es: One moment")
    assert languages.texts("es") is languages.texts("es-ES")
    assert asked == ["es"]


@pytest.mark.parametrize("answer", [[], ["one"], [" "] * 8])
def test_failed_translation_gives_english_and_is_tried_again(answer: list[str]) -> None:
    english = FillerLanguages(untranslated).texts("en")
    assert FillerLanguages(untranslated).texts("pt") == english
    answers = [answer, [f"t{position}" for position in range(8)]]
    languages = FillerLanguages(lambda phrases, language: answers.pop(0))
    assert languages.texts("pt") == english
    assert languages.texts("pt").opening == ("t0", "t1", "t2", "t3")


def test_telling_opens_at_once_and_ends_with_the_block() -> None:
    told: list[str] = []
    schedule = FillerSchedule(TEXTS, random.Random(1).choice)
    with telling(schedule, told.append):
        assert len(told) == 1
    assert schedule.due(10_000_000_000.0) is None


def test_faults_of_telling_stay_inside() -> None:
    tried = threading.Event()

    def tell(text: str) -> None:
        tried.set()
        raise ConnectionError("gone")

    with telling(FillerSchedule(TEXTS, random.Random(1).choice), tell):
        assert tried.is_set()
