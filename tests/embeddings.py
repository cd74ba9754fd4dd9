"""The vectors of a whole call, as tests look at them."""

from collections.abc import Iterable

from werkbank.ai.protocols import Embeddings
from werkbank.domain.messages import Usage


def joined(parts: Iterable[Embeddings]) -> Embeddings:
    """Join what an `EmbeddingProvider` yields."""
    got = list(parts)
    vectors = [vector for part in got for vector in part.vectors]
    return Embeddings(vectors, Usage(input_tokens=sum(part.usage.input_tokens for part in got)))
