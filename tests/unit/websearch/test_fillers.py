"""Fillers: at once, then patiently, never behind the search (WS-05)."""

import random
import threading
from collections.abc import Sequence
from itertools import pairwise
from queue import SimpleQueue

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.websearch.runs import some_run
from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.runs import Run
from werkbank.websearch.fillers import PATIENCE_SECONDS, Filler, FillerLanguages, FillerSchedule, FillerTexts
from werkbank.websearch.telling import telling

TEXTS = FillerTexts(opening=("o1", "o2"), patience=("p1", "p2", "p3"))


def untranslated(run: Run, phrases: Sequence[str], language: str) -> Sequence[str]:
    raise ProviderUnavailable("down")


def first(phrases: Sequence[str]) -> str:
    return phrases[0]


@given(
    steps=st.lists(st.integers(0, 30), min_size=1, max_size=40), interval=st.integers(-5, 25), seed=st.integers(0, 99)
)
def test_schedule(steps: list[int], interval: int, seed: int) -> None:
    schedule = FillerSchedule(random.Random(seed).choice, interval)
    now, told = 100.0, list[tuple[float, Filler]]()
    for step in steps:
        filler = schedule.due(now, TEXTS)
        if filler is not None:
            told.append((now, filler))
            assert schedule.wait_seconds(now) >= PATIENCE_SECONDS
        now += step
    assert told[0][0] == 100.0, "an opening at once"
    assert [filler.kind for _, filler in told] == ["opening", *["patience"] * (len(told) - 1)]
    assert all(filler.text in (TEXTS.opening if filler.kind == "opening" else TEXTS.patience) for _, filler in told)
    for (before, one), (after, other) in pairwise(told):
        assert after - before >= PATIENCE_SECONDS
        assert one != other, "not the same twice running"


def test_waiting_exactly_as_long_as_told_is_enough() -> None:
    schedule = FillerSchedule(first)
    assert schedule.wait_seconds(5.0) == 0
    assert schedule.due(5.0, TEXTS) == Filler("o1", "opening")
    wait = schedule.wait_seconds(8.0)
    assert wait == 7.0
    assert schedule.due(8.0 + wait, TEXTS) == Filler("p1", "patience")


def test_a_single_phrase_may_be_repeated() -> None:
    schedule, texts = FillerSchedule(first), FillerTexts(opening=("a",), patience=("a",))
    assert [filler.text for now in (0.0, 10.0, 20.0) if (filler := schedule.due(now, texts))] == ["a", "a", "a"]


@pytest.mark.parametrize(
    "language", ["de", "de-CH", "EN", "fr-FR", "it", "nl", "es-MX", "pt", "pl", "tr", "uk", "zh-Hant", "ja", "ar"]
)
def test_shipped_languages_need_no_translation(language: str) -> None:
    def never(run: Run, phrases: Sequence[str], language: str) -> Sequence[str]:
        raise AssertionError("nobody may be asked")

    languages = FillerLanguages(never)
    languages.learn(some_run(language))
    texts = languages.texts(some_run(language))
    assert len(texts.opening) >= 3
    assert len(texts.patience) >= 3
    assert (texts == languages.texts(some_run("en"))) == (language == "EN")


def test_other_languages_are_translated_once() -> None:
    asked: list[str] = []

    def translate(run: Run, phrases: Sequence[str], language: str) -> Sequence[str]:
        asked.append(language)
        return [f"{language}: {phrase}" for phrase in phrases]

    languages = FillerLanguages(translate)
    assert languages.texts(some_run("is")) == languages.texts(some_run("en")), "nobody waits for a translation"
    assert asked == []
    for language in ("is", "is-IS"):
        languages.learn(some_run(language))
        assert languages.texts(some_run(language)).opening[0].startswith("is: One moment")
    assert asked == ["is"]


@pytest.mark.parametrize("answer", [[], ["one"], [" "] * 8, ["x" * 201] * 8])
def test_failed_translation_gives_english_and_is_tried_again(answer: list[str]) -> None:
    failing = FillerLanguages(untranslated)
    failing.learn(some_run("is"))
    assert failing.texts(some_run("is")) == failing.texts(some_run("en"))
    answers = [answer, [f"t{position}" for position in range(8)]]
    languages = FillerLanguages(lambda run, phrases, language: answers.pop(0))
    languages.learn(some_run("is"))
    assert languages.texts(some_run("is")) == languages.texts(some_run("en"))
    languages.learn(some_run("is"))
    assert languages.texts(some_run("is")).opening == ("t0", "t1", "t2", "t3")


def nothing() -> None:
    """Have nothing to learn."""


def end_of_telling() -> None:
    """Wait until nobody is left who could tell."""
    for thread in threading.enumerate():
        if thread.name == "fillers":
            thread.join(30)


def test_telling_opens_at_once_whatever_there_is_to_learn() -> None:
    told: SimpleQueue[Filler] = SimpleQueue()
    learnt = threading.Event()

    def learn() -> None:
        learnt.wait(30)

    with telling(first, told.put, lambda: TEXTS, learn):
        assert told.get(timeout=30) == Filler("o1", "opening")
        assert not learnt.is_set()
    learnt.set()
    end_of_telling()
    assert told.empty(), "nothing is told behind the search"


def test_search_does_not_wait_for_a_push() -> None:
    is_pushing, may_arrive = threading.Event(), threading.Event()

    def tell(filler: Filler) -> None:
        is_pushing.set()
        may_arrive.wait(30)

    with telling(first, tell, lambda: TEXTS, nothing):
        assert is_pushing.wait(30)
    assert not may_arrive.is_set(), "the block has ended while the push is on its way"
    may_arrive.set()
    end_of_telling()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_faults_of_telling_stay_inside() -> None:
    tried = threading.Event()

    def tell(filler: Filler) -> None:
        tried.set()
        raise ConnectionError("gone")

    with telling(first, tell, lambda: TEXTS, nothing):
        assert tried.wait(30)
