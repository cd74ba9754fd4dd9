"""KS-03: passages of about 512 tokens that lose no word and never blur a citation."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.documents.samples import shared_file
from werkbank.documents.chunking import MAX_TOKENS, chunk_document, count_tokens
from werkbank.documents.extract import extract_document
from werkbank.documents.sentences import split_sentences
from werkbank.documents.tables import markdown_table
from werkbank.domain.documents import ContentObject, ContextRef, DocumentStructure, ExtractedDocument


def document_of(*texts: tuple[str, int, str | None]) -> ExtractedDocument:
    objects = tuple(
        ContentObject(
            sequence=number,
            content_type="text",
            data=text,
            ref=ContextRef(container_path="a", location=f"{number}", page_index=page, section_id=section),
            metadata={"kind": "table"} if text.startswith("| ") else {},
        )
        for number, (text, page, section) in enumerate(texts)
    )
    return ExtractedDocument(structure=DocumentStructure(mime_type="text/plain"), objects=objects)


def is_subsequence(wanted: str, text: str) -> bool:
    characters = iter(text)
    return all(character in characters for character in wanted)


WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1, max_size=30)
SPACES = st.sampled_from([" ", " ", " ", "\n", "\n\n", ". ", "! ", "  "])
TEXTS = st.lists(st.tuples(WORDS, SPACES), min_size=1, max_size=400).map(lambda parts: "".join(map("".join, parts)))
TABLES = st.lists(st.lists(WORDS, min_size=2, max_size=4), min_size=2, max_size=60).map(markdown_table)
OBJECTS = st.tuples(st.one_of(TEXTS, TABLES), st.integers(1, 3), st.sampled_from([None, "s1", "s2"]))


@settings(max_examples=150)
@given(st.lists(OBJECTS, max_size=6))
def test_no_word_is_lost_and_order_is_kept(texts: list[tuple[str, int, str | None]]) -> None:
    document = document_of(*texts)
    chunks = chunk_document(document)
    # Headers repeat, and a “word” longer than a passage is cut: the objects' characters are a subsequence.
    everything = "".join("".join(chunk.text.split()) for chunk in chunks)
    assert is_subsequence("".join("".join(item.data.split()) for item in document.objects), everything)
    if not any(item.metadata for item in document.objects):
        words = [word for chunk in chunks for word in chunk.text.split()]
        assert words == [word for item in document.objects for word in item.data.split()]


@settings(max_examples=100)
@given(st.lists(OBJECTS, max_size=6))
def test_passages_are_small_and_cite_their_own_place(texts: list[tuple[str, int, str | None]]) -> None:
    document = document_of(*texts)
    for number, chunk in enumerate(chunk_document(document)):
        assert chunk.sequence == number
        assert chunk.token_count <= MAX_TOKENS + 2
        source = document.objects[chunk.object_sequence]
        assert chunk.ref == source.ref


def test_small_neighbours_are_joined_only_within_page_and_section() -> None:
    document = document_of(("a", 1, "s1"), ("b", 1, "s1"), ("c", 2, "s1"), ("d", 2, "s2"))
    assert [chunk.text for chunk in chunk_document(document)] == ["a\n\nb", "c", "d"]


def test_long_table_repeats_its_header() -> None:
    table = markdown_table([["Name", "Betrag"], *([f"Firma {number}", "CHF 100"] for number in range(400))])
    chunks = chunk_document(document_of((table, 1, None)))
    assert len(chunks) > 5
    assert all(chunk.text.startswith("| Name | Betrag |\n| - | - |\n| Firma") for chunk in chunks)
    assert sum(chunk.text.count("Firma") for chunk in chunks) == 400


def test_long_text_ends_at_sentences() -> None:
    text = "Die Gebühr beträgt gem. Art. 3 Abs. 2 Nr. 5 rund 1.250 Franken pro Jahr und Person. " * 80
    chunks = chunk_document(document_of((text, 1, None)))
    assert len(chunks) > 3
    assert all(chunk.text.endswith("Person.") for chunk in chunks)
    assert max(chunk.token_count for chunk in chunks) - min(chunk.token_count for chunk in chunks) < 60


def test_german_abbreviations_do_not_end_sentences() -> None:
    text = (
        "Das gilt z. B. für Art. 5 Abs. 3 Satz 1. Der Vertrag vom 3. Mai 2021 endet. Dr. Meier, geb. 1970, wohnt in "
        "St. Gallen. Siehe Nr. 7 usw. und S. 12 ff. des Anhangs! „Gut.“ Ende"
    )
    assert [sentence.strip() for sentence in split_sentences(text)] == [
        "Das gilt z. B. für Art. 5 Abs. 3 Satz 1. Der Vertrag vom 3. Mai 2021 endet.",
        "Dr. Meier, geb. 1970, wohnt in St. Gallen.",
        "Siehe Nr. 7 usw. und S. 12 ff. des Anhangs!",
        "„Gut.“",
        "Ende",
    ]


@given(st.text(max_size=500))
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text


def test_geotopo_loses_nothing() -> None:
    document = extract_document(shared_file("pdf/GeoTopo-komprimiert.pdf"), "GeoTopo.pdf")
    chunks = chunk_document(document)
    words = [word for chunk in chunks for word in chunk.text.split()]
    assert words == [word for item in document.objects for word in item.data.split()]
    assert all(chunk.token_count == count_tokens(chunk.text) <= MAX_TOKENS for chunk in chunks)
