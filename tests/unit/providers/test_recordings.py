"""AI-06: recorded streams of many providers, through a real server into the real SDKs and our adapters."""

from pathlib import Path

import pytest

from tests.bench.recordings import Recording, find_recordings
from tests.bench.replay import ask, first_difference, replay
from tests.bench.wire_server import End, WireServer
from werkbank.ai.text_protocol import TextProtocol
from werkbank.domain.errors import IncompleteStream

WIRE = Path(__file__).parents[4] / "shared" / "wire"
RECORDINGS = find_recordings(WIRE)
WHOLE = [recording for recording in RECORDINGS if recording.content().fault is None]
# Larger recordings are cut into pieces of a few bytes, smaller ones into single bytes: every place is a cut somewhere.
SINGLE_BYTES_UP_TO = 12_000

pytestmark = pytest.mark.skipif(not RECORDINGS, reason="the recordings (../shared/wire) are not here")


def _named(recordings: list[Recording]) -> list[object]:
    return [pytest.param(recording, id=recording.name) for recording in recordings]


@pytest.mark.parametrize("recording", _named(RECORDINGS))
def test_replay(recording: Recording, server: WireServer) -> None:
    is_ok, reason = replay(recording, server)
    assert is_ok, reason


@pytest.mark.parametrize("end", ["whole", "closed", "reset"])
@pytest.mark.parametrize("recording", _named(WHOLE))
def test_a_stream_without_its_end_is_a_failed_call(recording: Recording, end: End, server: WireServer) -> None:
    assert recording.format is not None
    server.reply(
        recording.wire(recording.lines_before_end(), done=False),
        end=end,
        content_type=recording.content_type,
    )
    with pytest.raises(IncompleteStream):
        ask(recording.format, server.url)


@pytest.mark.parametrize("recording", _named(WHOLE))
def test_cutting_the_bytes_anywhere_changes_nothing(recording: Recording, server: WireServer) -> None:
    assert recording.format is not None
    data = b"".join(recording.wire())
    size = 1 if len(data) <= SINGLE_BYTES_UP_TO else 61
    server.reply(
        [data[start : start + size] for start in range(0, len(data), size)], content_type=recording.content_type
    )
    assert first_difference(recording.content(), ask(recording.format, server.url)) is None


@pytest.mark.parametrize("recording", _named([recording for recording in WHOLE if not recording.content().calls]))
def test_answers_without_calls_are_the_same_through_the_text_protocol(recording: Recording, server: WireServer) -> None:
    # AG-02
    assert recording.format is not None
    server.reply(recording.wire(), content_type=recording.content_type)
    assert first_difference(recording.content(), ask(recording.format, server.url, TextProtocol)) is None


def test_a_connection_that_breaks_after_the_end_harms_nothing(server: WireServer) -> None:
    for recording in (
        next(one for one in WHOLE if one.format == format) for format in ("anthropic", "responses", "bedrock")
    ):
        assert recording.format is not None
        server.reply(recording.wire(), end="closed", content_type=recording.content_type)
        assert first_difference(recording.content(), ask(recording.format, server.url)) is None
