"""Embeddings without network or weights: word stems and character n-grams hashed into a vector.

Each feature adds its weight, with a sign, to one coordinate (feature hashing, Weinberger et al. 2009), so that texts
sharing stems have a high cosine. Character n-grams bring together what stemming keeps apart: the parts of German
compounds, inflection, spelling variants. A text's language need not be known: both stems of a word are features.
"""

import math
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from werkbank.ai.model import Model
from werkbank.ai.protocols import Embeddings
from werkbank.ai.stems import stems
from werkbank.domain.errors import RequestRejected
from werkbank.domain.language import FUNCTION_WORDS
from werkbank.domain.messages import Usage

_WORD = re.compile(r"\w+")
# Character n-grams by length: longer ones tell more. A word has many, so that each weighs little beside its stem.
_NGRAM_WEIGHTS = {3: 0.05, 4: 0.1, 5: 0.1}
_FUNCTION_WORD_WEIGHT = 0.02
_LONGEST_WORD = 64  # a base64 block is no word; its n-grams would drown the text's
_SATURATION = 0.5  # the k of tf / (tf + k): a word said ten times is not ten times the topic
_GOLDEN_RATIO = 0x9E3779B97F4A7C15  # Fibonacci hashing spreads the CRC's bits evenly over the coordinates
_WORD_CACHE_SIZE = 50_000


class HashingEmbedder:
    """An `EmbeddingProvider` of the Internal provider; the dimension is the model's."""

    def embed(self, model: Model, texts: Sequence[str], timeout_seconds: float) -> Iterator[Embeddings]:
        """Yield one vector of length 1 per text (all zeros for a text without words); about 1 ms per passage.

        Raises RequestRejected if the model has no embedding dimension.
        """
        if model.embedding_dimension is None:
            raise RequestRejected(f"{model.label} is not an embedding model.")
        words = [_words(text) for text in texts]
        vectors = [_vector(counts, model.embedding_dimension) for counts in words]
        yield Embeddings(vectors, Usage(input_tokens=sum(counts.total() for counts in words)))


def _words(text: str) -> Counter[str]:
    return Counter(word[:_LONGEST_WORD] for word in _WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def _vector(words: Counter[str], dimension: int) -> list[float]:
    features: dict[int, float] = {}
    for word, count in words.items():
        for feature, weight in _features(word):
            features[feature] = features.get(feature, 0.0) + weight * count
    vector = [0.0] * dimension
    for feature, weight in features.items():
        mixed = (feature * _GOLDEN_RATIO) & 0xFFFFFFFFFFFFFFFF
        sign = 1.0 if mixed >> 63 else -1.0
        vector[(mixed >> 20 & 0xFFFFFFFF) % dimension] += sign * weight / (weight + _SATURATION)
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector


@lru_cache(maxsize=_WORD_CACHE_SIZE)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """Return the hashes of a word's features with their weights."""
    if word in FUNCTION_WORDS:
        return ((zlib.crc32(b"w" + word.encode()), _FUNCTION_WORD_WEIGHT),)
    # Long words are rarer, and so tell more; numbers tell most of all.
    weight = 1.0 if word.isdigit() else min(1.0, 0.2 + 0.1 * len(word))
    own_stems = stems(word)
    features = [(zlib.crc32(b"w" + stem.encode()), weight / len(own_stems)) for stem in own_stems]
    features += [(zlib.crc32(gram.encode()), weight * _NGRAM_WEIGHTS[len(gram)]) for gram in _ngrams(word)]
    return tuple(features)


def _ngrams(word: str) -> Iterator[str]:
    marked = f"<{word}>"
    for size in _NGRAM_WEIGHTS:
        for start in range(len(marked) - size + 1):
            yield marked[start : start + size]
