"""How well questions find the passage that answers them, on any file of SQuAD's form.

`python -m tests.bench.retrieval FILE` indexes every paragraph as a file of its own, by the product's path and into a
real PostgreSQL under row-level security, then asks every question. The last line is `R@1 … R@10 … nDCG@10 …`.
WERKBANK_PRIVATE_EMBEDDINGS_URL (and WERKBANK_PRIVATE_EMBEDDINGS_MODEL) name an OpenAI-compatible embedding server to
use in place of the offline embedder.
"""

import json
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.embeddings import joined
from tests.temporary_postgres import temporary_database
from werkbank.ai.keys import ModelKeys
from werkbank.ai.operations import Operation
from werkbank.ai.selector import ModelWish, select_models
from werkbank.database.connection import Database
from werkbank.documents.chunking import chunk_document
from werkbank.documents.extract import extract_document
from werkbank.domain.files import FileItem
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.time import utc_now
from werkbank.knowledge.model import Embedded, EmbeddedChunk
from werkbank.knowledge.protocols import EmbedTexts
from werkbank.knowledge.retrieval import search
from werkbank.providers.catalog import build_catalog

_TIMEOUT_SECONDS = 60.0
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the position of the paragraph that answers it."""

    text: str
    answer: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over all questions; one paragraph is relevant to each."""

    recall_at_1: float
    recall_at_10: float
    ndcg_at_10: float

    def __str__(self) -> str:
        return f"R@1 {self.recall_at_1:.3f} R@10 {self.recall_at_10:.3f} nDCG@10 {self.ndcg_at_10:.3f}"


def read_squad(path: Path) -> tuple[list[str], list[Question]]:
    """Return the paragraphs, each once, and the questions of a file of SQuAD's form."""
    positions: dict[str, int] = {}
    questions: list[Question] = []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            position = positions.setdefault(paragraph["context"], len(positions))
            questions += [Question(asked["question"], position) for asked in paragraph["qas"]]
    return list(positions), questions


def figures_of(ranks: Sequence[int | None]) -> Figures:
    """Return the figures for the rank of each question's paragraph, from 0; None: not among the first ten."""
    found = [rank for rank in ranks if rank is not None]
    count = max(len(ranks), 1)
    return Figures(
        recall_at_1=sum(rank == 0 for rank in found) / count,
        recall_at_10=len(found) / count,
        ndcg_at_10=sum(1 / math.log2(rank + 2) for rank in found) / count,
    )


def embedder() -> EmbedTexts:
    """Return the embedder that the environment asks for."""
    catalog = build_catalog(
        ModelKeys(
            private_embeddings_url=os.environ.get("WERKBANK_PRIVATE_EMBEDDINGS_URL"),
            private_embeddings_model=os.environ.get("WERKBANK_PRIVATE_EMBEDDINGS_MODEL", "default"),
        )
    )
    model = select_models(catalog.models, ModelWish(Operation.EMBEDDING))[0]
    provider = catalog.providers.embedding[model.provider]

    def embed(texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embedded:
        prefix = model.query_prefix if purpose == "query" else model.passage_prefix
        prefixed = [prefix + text for text in texts]
        return Embedded(joined(provider.embed(model, prefixed, _TIMEOUT_SECONDS)).vectors, model.id)

    return embed


def index_paragraph(database: Database, principal: Principal, embed: EmbedTexts, text: str) -> str:
    """Store a paragraph as a file and index it; return the file's id."""
    file = FileItem(
        id=new_id(), mandate_id=principal.mandate_id, user_id=principal.user_id, file_name="paragraph.txt",
        mime_type="text/plain", size=len(text), object_key="none", created_at=utc_now(), updated_at=utc_now(),
    )  # fmt: skip
    document = extract_document(text.encode(), file.file_name, file.mime_type)
    chunks = chunk_document(document)
    embedded = embed([chunk.text for chunk in chunks], "passage")
    pairs = [EmbeddedChunk(chunk, vector) for chunk, vector in zip(chunks, embedded.vectors, strict=True)]
    with database.session(principal) as session:
        session.files.add(file)
        session.knowledge.replace_index(file.id, document, pairs, embedded.model_id)
    return file.id


def rank_of(database: Database, principal: Principal, embed: EmbedTexts, question: str, file_id: str) -> int | None:
    """Return at which place, from 0, the file's best passage is found."""
    found = search(database, embed, principal, question, limit=3 * _DEPTH)
    files = list(dict.fromkeys(passage.file_id for passage in found))[:_DEPTH]
    return files.index(file_id) if file_id in files else None


def main(path: Path) -> None:
    """Index, ask, print."""
    paragraphs, questions = read_squad(path)
    embed = embedder()
    principal = Principal(user_id="bench", mandate_id="bench")
    with temporary_database() as database:
        with database.session(principal) as session:
            session.mandates.ensure(None)
        started = time.perf_counter()
        files = [index_paragraph(database, principal, embed, text) for text in paragraphs]
        indexed = time.perf_counter()
        ranks = [rank_of(database, principal, embed, asked.text, files[asked.answer]) for asked in questions]
        answered = time.perf_counter()
    print(f"{len(paragraphs)} paragraphs, {1000 * (indexed - started) / max(len(paragraphs), 1):.1f} ms each to index")
    print(f"{len(questions)} questions, {1000 * (answered - indexed) / max(len(questions), 1):.1f} ms each to answer")
    print(figures_of(ranks))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
