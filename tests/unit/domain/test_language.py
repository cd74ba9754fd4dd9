import pytest

from werkbank.domain.language import Language, likely_languages, topic_of


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("Wie hoch war der Umsatz?", ("german",)),
        ("How high was the revenue?", ("english",)),
        ("Umsatz 2025", ("german", "english")),
        ("", ("german", "english")),
    ],
)
def test_function_words_tell_the_language(text: str, languages: tuple[Language, ...]) -> None:
    assert likely_languages(text) == languages


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Wie hoch war der Umsatz?", "hoch Umsatz?"),
        ("What was the World War?", "World War?"),  # "war" is a function word of German only
        ("der die das", "der die das"),
    ],
)
def test_a_topic_is_a_question_without_its_languages_function_words(question: str, topic: str) -> None:
    assert topic_of(question) == topic
