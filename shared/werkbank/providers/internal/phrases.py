"""The few sentences the offline model says in its own words."""

from dataclasses import dataclass

from werkbank.domain.language import Language, likely_languages


@dataclass(frozen=True, slots=True)
class Phrases:
    """Frame sentences of one language; `result` takes the `tool`, `nothing` the `topic`."""

    quoting: str
    result: str
    nothing: str


_PHRASES: dict[Language, Phrases] = {
    "german": Phrases(
        quoting="In deinen Dateien steht dazu:",
        result="Ergebnis von {tool}:",
        nothing="Dazu habe ich in deinen Dateien nichts gefunden: „{topic}“.",
    ),
    "english": Phrases(
        quoting="Your files say about this:",
        result="Result of {tool}:",
        nothing="I found nothing in your files about “{topic}”.",
    ),
}


def phrases_for(question: str) -> Phrases:
    """Return the phrases in the language of the question; English where it does not show."""
    languages = likely_languages(question)
    return _PHRASES[languages[0] if len(languages) == 1 else "english"]
