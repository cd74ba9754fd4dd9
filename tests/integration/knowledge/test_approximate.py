# KS-06: the index finds what an exact search finds, also when most of what it holds is another tenant's.
import random

import pytest

from tests.integration.conftest import new_member
from tests.integration.knowledge.library import MODEL, new_file
from werkbank.database.connection import Database
from werkbank.database.knowledge_search import PassageSearch
from werkbank.domain.documents import Chunk, ContextRef, DocumentStructure, ExtractedDocument
from werkbank.domain.principal import Principal
from werkbank.knowledge.model import EmbeddedChunk, QueryVector, SearchFilter

DIMENSION, TOPICS, PER_FILE, LIMIT = 1536, 40, 200, 20
ALWAYS_EXACT, NEVER_EXACT = 10**9, 0


class Landscape:
    """Vectors as embedders make them: around topics, each topic sparse."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._topics = [self._direction(60) for _ in range(TOPICS)]

    def vector(self) -> list[float]:
        """Return a vector near some topic."""
        vector = list(self._random.choice(self._topics))
        for value, place in zip(self._direction(40), self._random.sample(range(DIMENSION), DIMENSION), strict=True):
            vector[place] += 0.7 * value
        return vector

    def _direction(self, size: int) -> list[float]:
        vector = [0.0] * DIMENSION
        for place in self._random.sample(range(DIMENSION), size):
            vector[place] = self._random.gauss(0, 1 / size**0.5)
        return vector


def add_files(database: Database, principal: Principal, landscape: Landscape, count: int) -> None:
    document = ExtractedDocument(structure=DocumentStructure(mime_type="text/plain"), objects=())
    place = ContextRef(container_path="a.txt", location="line:1")
    for _ in range(count):
        file = new_file(principal)
        chunks = [
            EmbeddedChunk(
                Chunk(sequence=n, object_sequence=0, text=f"{n}", ref=place, token_count=1), landscape.vector()
            )
            for n in range(PER_FILE)
        ]
        with database.session(principal) as session:
            session.files.add(file)
            session.knowledge.replace_index(file.id, document, chunks, MODEL.id)


@pytest.mark.slow
def test_the_index_finds_what_an_exact_search_finds(database: Database) -> None:
    landscape = Landscape(7)
    small, large = new_member(database), new_member(database)
    add_files(database, large, landscape, 12)
    add_files(database, small, landscape, 3)
    for principal in (small, large):
        shared = 0
        with database.session(principal) as session:
            exact, approximate = (
                PassageSearch(session.connection, principal, exact_chunks)
                for exact_chunks in (ALWAYS_EXACT, NEVER_EXACT)
            )
            for _ in range(20):
                vector = QueryVector(landscape.vector(), MODEL.id)
                wanted, found = (
                    {candidate.chunk_id for candidate in search.candidates("", vector, SearchFilter(), LIMIT)}
                    for search in (exact, approximate)
                )
                assert len(wanted) == LIMIT
                shared += len(wanted & found)
        assert shared / (20 * LIMIT) >= 0.95
