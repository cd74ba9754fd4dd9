import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.knowledge.memory_objects import MemoryObjects
from werkbank.domain.documents import Chunk, ContentObject, ContextRef, DocumentStructure, ExtractedDocument
from werkbank.domain.errors import NotFound
from werkbank.domain.runs import RunRef
from werkbank.knowledge.model import Embedded
from werkbank.knowledge.staging import StagedDocument, Staging

REF = RunRef(run_id="run", mandate_id="mandate", user_id="user")


@given(st.text(), st.integers(1, 400))
def test_a_document_comes_back_as_it_was(text: str, page: int) -> None:
    place = ContextRef(container_path="a.pdf", location=f"page:{page}", page_index=page)
    staged = StagedDocument(
        document=ExtractedDocument(
            structure=DocumentStructure(mime_type="application/pdf", page_count=page),
            objects=(ContentObject(sequence=0, content_type="text", data=text, ref=place),),
        ),
        chunks=(Chunk(sequence=0, object_sequence=0, text=text, ref=place, token_count=1),),
    )
    staging = Staging(MemoryObjects(), REF)
    staging.put_document(staged)
    assert staging.document() == staged


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3), max_size=5))
def test_vectors_come_back_with_their_model(vectors: list[list[float]]) -> None:
    staging = Staging(MemoryObjects(), REF)
    staging.put_vectors(Embedded(vectors, "model"))
    back = staging.vectors()
    assert back.model_id == "model"
    assert [list(vector) for vector in back.vectors] == vectors


def test_everything_stands_under_the_run_and_is_cleared() -> None:
    objects = MemoryObjects()
    staging = Staging(objects, REF)
    staging.put_vectors(Embedded([[1.0]], "model"))
    assert list(objects.held) == ["work/mandate/run/vectors.f32"]
    staging.clear()
    staging.clear()
    assert not objects.held
    with pytest.raises(NotFound):
        staging.vectors()
