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
    schedule = FillerSchedule(TEXTS, random.Random(seed).choice, interval)
    now, told = 100.0, list[tuple[float, Filler]]()
    for step in steps:
        filler = schedule.due(now)
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
    schedule = FillerSchedule(TEXTS, first)
    assert schedule.wait_seconds(5.0) == 0
    assert schedule.due(5.0) == Filler("o1", "opening")
    wait = schedule.wait_seconds(8.0)
    assert wait == 7.0
    assert schedule.due(8.0 + wait) == Filler("p1", "patience")


def test_a_single_phrase_may_be_repeated() -> None:
    schedule = FillerSchedule(FillerTexts(opening=("a",), patience=("a",)), first)
    assert [filler.text for filler in map(schedule.due, (0.0, 10.0, 20.0)) if filler] == ["a", "a", "a"]


@pytest.mark.parametrize("language", ["de", "de-CH", "EN", "fr-FR", "it", "nl"])
def test_kept_languages_need_no_translation(language: str) -> None:
    texts = FillerLanguages(untranslated).texts(some_run(language))
    assert len(texts.opening) >= 3
    assert len(texts.patience) >= 3


def test_other_languages_are_translated_once() -> None:
    asked: list[str] = []

    def translate(run: Run, phrases: Sequence[str], language: str) -> Sequence[str]:
        asked.append(language)
        return [f"{language}: {phrase}" for phrase in phrases]

    languages = FillerLanguages(translate)
    assert languages.texts(some_run("es-MX")).opening[0].startswith("es: One moment")
    assert languages.texts(some_run("es")) is languages.texts(some_run("es-ES"))
    assert asked == ["es"]


@pytest.mark.parametrize("answer", [[], ["one"], [" "] * 8, ["x" * 201] * 8])
def test_failed_translation_gives_english_and_is_tried_again(answer: list[str]) -> None:
    english = FillerLanguages(untranslated).texts(some_run("en"))
    assert FillerLanguages(untranslated).texts(some_run("pt")) == english
    answers = [answer, [f"t{position}" for position in range(8)]]
    languages = FillerLanguages(lambda run, phrases, language: answers.pop(0))
    assert languages.texts(some_run("pt")) == english
    assert languages.texts(some_run("pt")).opening == ("t0", "t1", "t2", "t3")


def test_telling_opens_at_once() -> None:
    told: SimpleQueue[Filler] = SimpleQueue()
    with telling(lambda: TEXTS, first, told.put):
        assert told.get(timeout=30) == Filler("o1", "opening")
    assert told.empty()


def test_search_does_not_wait_for_phrases_and_nothing_is_told_behind_it() -> None:
    told: list[Filler] = []
    translated, done = threading.Event(), threading.Event()

    def texts() -> FillerTexts:
        translated.wait(30)
        done.set()
        return TEXTS

    with telling(texts, first, told.append):
        assert not translated.is_set()
    translated.set()
    assert done.wait(30)
    for thread in threading.enumerate():
        if thread.name == "fillers":
            thread.join(30)
    assert told == []


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_faults_of_telling_stay_inside() -> None:
    tried = threading.Event()

    def tell(filler: Filler) -> None:
        tried.set()
        raise ConnectionError("gone")

    with telling(lambda: TEXTS, first, tell):
        assert tried.wait(30)
