"""Finds the sentences of passages that answer a question, and the sentences that sum a text up. No model, no chance."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from werkbank.ai.stems import stem_of
from werkbank.documents.sentences import split_sentences
from werkbank.domain.language import function_words, likely_languages
from werkbank.domain.passages import Passage

_WORD = re.compile(r"[^\W_]+")
_LINE_STARTS_ANEW = re.compile(r"\n(?=\s*(?:[-*•|#>]|\d+[.)]\s))|\n{2,}")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*\S)[ \t]*(?:\n+|\Z)", re.MULTILINE)
_DEFINES = re.compile(
    r"(?:ist|sind|heißt|heisst|heißen|nennt|bezeichnet|bedeutet|versteht|is|are|means|refers|called|defined|denotes)"
)
_ASKS_FOR_DEFINITION = re.compile(
    r"^\W*(?:(?:was|wann) (?:ist|sind|bedeutet|heißt|heisst|versteht)|(?:what|when)(?:'s| is| are| does)|defin)",
    re.IGNORECASE,
)
_DEFINING_DISTANCE = 4  # words between what defines and what is defined
_MAX_QUOTES = 3
_GOOD_ENOUGH = 0.55  # of the best quote's score
_LEAST_COVERAGE = 0.22  # of the question's weight that a quote must touch
_LEAST_CHARACTERS = 20
_MOST_CHARACTERS = 420
_SHORTEST_SHARED_START = 5


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence and the number of the passage it is from."""

    number: int
    sentence: str


def best_quotes(question: str, passages: Sequence[Passage]) -> list[Quote]:
    """Return up to three sentences that speak of what the question asks, best first; none if nothing fits."""
    asked = _topic_stems(question)
    sentences = [
        (rank, passage, sentence) for rank, passage in enumerate(passages) for sentence in _sentences(passage.text)
    ]
    if not asked or not sentences:
        return []
    weights = _rarities(asked, [sentence for _, _, sentence in sentences])
    wants_definition = bool(_ASKS_FOR_DEFINITION.search(question))
    scored = sorted(
        (
            (-_score(sentence, passage, rank, weights, wants_definition), position, passage, sentence)
            for position, (rank, passage, sentence) in enumerate(sentences)
        ),
        key=lambda entry: entry[:2],
    )
    best = -scored[0][0]
    fitting = [(passage, sentence) for score, _, passage, sentence in scored if -score >= _GOOD_ENOUGH * best > 0]
    return _distinct(Quote(passage.number, _shortened(sentence)) for passage, sentence in fitting)[:_MAX_QUOTES]


def asked_in(text: str) -> str:
    """Return the questions of a letter, without what stands around them; all of it where it asks none."""
    return " ".join(sentence for sentence in _sentences(text) if sentence.endswith("?")) or text.strip()


def summary_sentences(text: str, count: int) -> list[str]:
    """Return the sentences that carry most of what a text repeats, in the text's order."""
    sentences = [sentence for sentence in _sentences(text) if len(sentence) >= _LEAST_CHARACTERS]
    frequencies = Counter(stem for sentence in sentences for stem in _topic_stems(sentence))

    def weight(position: int) -> float:
        stems = _topic_stems(sentences[position])
        return sum(frequencies[stem] for stem in stems) / (len(stems) + 3) + 1 / (position + 2)

    chosen = sorted(range(len(sentences)), key=weight, reverse=True)[:count]
    return [_shortened(sentences[position]) for position in sorted(chosen)]


def _score(sentence: str, passage: Passage, rank: int, weights: dict[str, float], wants_definition: bool) -> float:
    """Score how much of the question's weight the sentence holds; 0 when too little."""
    total = sum(weights.values())
    own = _coverage(sentence, weights)
    around = _coverage(f"{passage.place} {passage.text}", weights)
    if total == 0 or own < _LEAST_COVERAGE * total or len(sentence) < _LEAST_CHARACTERS:
        return 0.0
    score = own / total + 0.2 * around / total + 0.2 / (rank + 1)
    if wants_definition and _defines(sentence, weights):
        score += 0.3
    # A heading or a table row has the words but says nothing; a sentence ends like one.
    return score if sentence.rstrip('"“”’»)')[-1:] in ".!?…:" else score * 0.6


def _defines(sentence: str, weights: dict[str, float]) -> bool:
    """Tell whether a word that defines stands close to what is asked for, as in “heißt ein metrischer Raum”."""
    words = _words(sentence)
    asked = {position for position, word in enumerate(words) if stem_of(word) in weights}
    defining = (position for position, word in enumerate(words) if _DEFINES.fullmatch(word))
    return any(abs(position - place) <= _DEFINING_DISTANCE for position in defining for place in asked)


def _coverage(text: str, weights: dict[str, float]) -> float:
    stems = _stems(text)
    return sum(weight * _presence(stem, stems) for stem, weight in weights.items())


def _presence(stem: str, stems: frozenset[str]) -> float:
    """Tell how far a stem is there: whole, or as a part of a compound (`Raum` in `Vektorraum`)."""
    if stem in stems:
        return 1.0
    if len(stem) < _SHORTEST_SHARED_START:
        return 0.0
    return (
        0.5
        if any(stem in other or (len(other) >= _SHORTEST_SHARED_START and other in stem) for other in stems)
        else 0.0
    )


def _rarities(asked: frozenset[str], sentences: Sequence[str]) -> dict[str, float]:
    """Weigh the question's stems: one that every sentence has tells nothing of which is meant."""
    holding = [_stems(sentence) for sentence in sentences]
    return {stem: math.log(1 + len(holding) / (1 + sum(stem in stems for stems in holding))) for stem in sorted(asked)}


def _topic_stems(text: str) -> frozenset[str]:
    """Return the stems that say what a text is about, without the words that only carry its sentences."""
    carried = function_words(likely_languages(text))
    return frozenset(stem_of(word) for word in _words(text) if word not in carried)


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem_of(word) for word in _words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _sentences(text: str) -> list[str]:
    """Split a text as it was typeset: lines that merely wrap are joined, items and table rows stand alone.

    A heading goes with the sentence it heads, which often says only together with it what it is about.
    """
    blocks = _LINE_STARTS_ANEW.split(_HEADING.sub(r"\n\n\1: ", text))
    sentences = (sentence.strip() for block in blocks for sentence in split_sentences(" ".join(block.split())))
    return [sentence for sentence in sentences if sentence]


def _shortened(sentence: str) -> str:
    return sentence if len(sentence) <= _MOST_CHARACTERS else sentence[:_MOST_CHARACTERS].rsplit(" ", 1)[0] + " …"


def _distinct(quotes: Iterable[Quote]) -> list[Quote]:
    """Leave out what was quoted already: passages overlap."""
    seen: dict[str, Quote] = {}
    for quote in quotes:
        seen.setdefault(quote.sentence, quote)
    return list(seen.values())
