"""What the indexing functions hand to each other through object storage: a state machine carries only ids."""

import gzip
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from werkbank.domain.base import WireModel
from werkbank.domain.documents import Chunk, ExtractedDocument
from werkbank.domain.runs import RunRef
from werkbank.knowledge.model import Embedded, Vector
from werkbank.knowledge.protocols import ObjectStore

_GZIP_LEVEL = 1  # the next function reads it in a moment


class StagedDocument(WireModel):
    """A file after extraction."""

    document: ExtractedDocument
    chunks: tuple[Chunk, ...]


class _VectorHeader(WireModel):
    model_id: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Staging:
    """The staged parts of one indexing run, under `work/<mandate>/<run>/`."""

    objects: ObjectStore
    ref: RunRef

    def put_document(self, staged: StagedDocument) -> None:
        """Stage what extraction found."""
        self.objects.put(self._key("document.json.gz"), gzip.compress(staged.model_dump_json().encode(), _GZIP_LEVEL))

    def document(self) -> StagedDocument:
        """Return what extraction found. Raises NotFound."""
        return StagedDocument.model_validate_json(gzip.decompress(self.objects.get(self._key("document.json.gz"))))

    def put_vectors(self, embedded: Embedded) -> None:
        """Stage the chunks' vectors: a line of JSON, then 32-bit floats, little-endian."""
        dimension = len(embedded.vectors[0]) if embedded.vectors else 0
        header = _VectorHeader(model_id=embedded.model_id, dimension=dimension)
        floats = _little_endian(array("f", (value for vector in embedded.vectors for value in vector)))
        self.objects.put(self._key("vectors.f32"), header.model_dump_json().encode() + b"\n" + floats.tobytes())

    def vectors(self) -> Embedded:
        """Return the chunks' vectors. Raises NotFound."""
        line, _, data = self.objects.get(self._key("vectors.f32")).partition(b"\n")
        header = _VectorHeader.model_validate_json(line)
        floats = array("f")
        floats.frombytes(data)
        floats = _little_endian(floats)
        starts = range(0, len(floats), max(header.dimension, 1))
        vectors: Sequence[Vector] = [floats[start : start + header.dimension] for start in starts]
        return Embedded(vectors, header.model_id)

    def clear(self) -> None:
        """Remove what is staged."""
        for name in ("document.json.gz", "vectors.f32"):
            self.objects.delete(self._key(name))

    def _key(self, name: str) -> str:
        return f"work/{self.ref.mandate_id}/{self.ref.run_id}/{name}"


def _little_endian(floats: "array[float]") -> "array[float]":
    if sys.byteorder == "big":
        floats.byteswap()
    return floats
