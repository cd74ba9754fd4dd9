"""The measure itself, and what it must show on the shared samples (DO-02)."""

import re
from pathlib import Path

import pytest

from tests.bench import extraction
from tests.unit.documents.samples import SHARED


def test_words_leave_markup_out() -> None:
    markdown = "## Titel\n\n- [x] [Text [1]](http://a.b/c_(d)) <!-- image -->\n| **A** | b\\_c |"
    assert extraction.words_of(markdown) == ["titel", "text", "1", "a", "b", "c"]


def test_recall_counts_repetitions() -> None:
    assert extraction.recall(["a", "a", "b", "c"], ["a", "c"]) == 0.5


def test_order_is_the_longest_common_subsequence() -> None:
    assert extraction.longest_common_subsequence(list("abcbdab"), list("bdcaba")) == 4
    assert extraction.order(["a", "b", "c"], ["c", "x", "a", "b"]) == pytest.approx(2 / 3)


def test_report_has_a_line_for_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = tmp_path / "any" / "expected"
    expected.mkdir(parents=True)
    for name, text in (("a.txt", "eins zwei"), ("b.zip", "x"), ("c.pdf", "x"), ("gone.txt", "x")):
        (expected / f"{name}.md").write_text(text)
    (tmp_path / "any" / "a.txt").write_text("eins zwei drei")
    (tmp_path / "any" / "b.zip").write_bytes(b"PK\x05\x06" + b"\0" * 18)
    (tmp_path / "any" / "c.pdf").write_bytes(b"")
    assert extraction.main(tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "any/a.txt recall 1.000 order 1.000"
    assert lines[1] == "any/b.zip unsupported"
    assert lines[2].startswith("any/c.pdf failed: The file is empty")
    assert lines[3] == "any/gone.txt missing"
    assert lines[4] == "recall 0.500 order 0.500 files 2"


@pytest.mark.parametrize("folder", ["pdf", "docx", "html", "csv"])
def test_samples_are_complete_and_in_order(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not SHARED.is_dir():
        pytest.skip(f"test material {SHARED} is absent")
    extraction.main(SHARED / folder)
    figures = re.fullmatch(r"recall (\S+) order (\S+) files \d+", capsys.readouterr().out.splitlines()[-1])
    assert figures
    assert float(figures[1]) >= 0.95
    assert float(figures[2]) >= 0.95
