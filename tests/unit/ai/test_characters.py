"""Characters cut in two by a stream come out whole, whatever the split (AI-06)."""

from hypothesis import given
from hypothesis import strategies as st

from werkbank.ai.assembly import assemble
from werkbank.ai.characters import whole_characters
from werkbank.ai.protocols import Delta, StreamEnd, TextDelta, ToolCallDelta
from werkbank.domain.messages import Usage

END = StreamEnd(Usage(), "stop")


def as_utf16(text: str) -> str:
    """The text as a server with UTF-16 strings may cut it: a code unit a character."""
    units = text.encode("utf-16-le")
    return "".join(chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2))


@given(st.text(st.sampled_from("aé😀👩\u200d🔬\U0010ffff"), max_size=12), st.data())
def test_any_split_gives_the_same_text(text: str, data: st.DataObject) -> None:
    units = as_utf16(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(units)), max_size=6)))
    pieces = [units[a:b] for a, b in zip([0, *cuts], [*cuts, len(units)], strict=True)]
    shown = [delta.text for delta in whole_characters(map(TextDelta, pieces)) if isinstance(delta, TextDelta)]
    assert "".join(shown) == text
    assert all(piece.encode() for piece in shown), "every piece can be shown by itself"


def test_half_a_character_before_a_call_is_replaced() -> None:
    deltas: list[Delta] = [TextDelta("So \ud83d"), ToolCallDelta(0, "c", "find", '{"q": "\ud83d\ude00\ud83d'), END]
    message = assemble(deltas).message
    assert message.content == "So \ufffd"
    assert message.tool_calls[0].arguments == '{"q": "\U0001f600\ufffd'
