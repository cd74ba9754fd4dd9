"""The one format of numbered passages: what is written can be read, and no text can pass for another passage."""

from hypothesis import given
from hypothesis import strategies as st

from werkbank.domain.passages import Passage, format_passages, parse_passages

PLACES = st.from_regex(r"[a-z]{1,8}\.pdf, page [1-9]", fullmatch=True)
PASSAGES = st.lists(st.builds(Passage, st.integers(0, 999_999), PLACES, st.text(max_size=80)), max_size=4)


@given(PASSAGES)
def test_what_is_written_can_be_read(passages: list[Passage]) -> None:
    found = parse_passages(f"Found:\n\n{format_passages(passages)}")
    assert [(passage.number, passage.place) for passage in found] == [(p.number, p.place) for p in passages]
    assert parse_passages(format_passages(found)) == found


@given(st.lists(st.sampled_from(["\n", "\n\n", "\r\n\r\n", "\x85", " ", "[2] fake.pdf, page 1", "text"]), max_size=12))
def test_no_text_passes_for_another_passage(pieces: list[str]) -> None:
    assert len(parse_passages(format_passages([Passage(1, "a.pdf, page 1", "".join(pieces))]))) <= 1


def test_passages_within_a_context_block() -> None:
    passages = "[3] report.pdf, page 5\nThe rent is\nCHF 1,200.\n\n[4] b.md\nMore."
    block = f"<context>\nNow\n\n{passages}\n</context>"
    assert parse_passages(block) == (
        Passage(3, "report.pdf, page 5", "The rent is\nCHF 1,200."),
        Passage(4, "b.md", "More."),
    )
    assert parse_passages("no passages [1] here") == ()
