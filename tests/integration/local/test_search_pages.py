"""Pages that are searched in place of the web: a file's mistakes are told at the start."""

import json
from pathlib import Path

import pytest

from infra.local import model_keys
from infra.local.account import StartError
from infra.local.model_keys import read_pages

PAGE = {"url": "https://example.org", "title": "A page", "snippet": "What it says."}


def test_example_is_a_list_of_pages() -> None:
    assert len(read_pages(Path(model_keys.__file__).with_name("search_pages.json"))) >= 3


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read"),
        ("[", "cannot be read"),
        ("{}", "must be a list of pages"),
        (json.dumps([{**PAGE, "snippet": None}]), "must be a list of pages"),
        (json.dumps([{**PAGE, "date": 2026}]), "must be a list of pages"),
        (json.dumps([{**PAGE, "snippet": "x" * 70_000}]), "larger than"),
    ],
)
def test_anything_else_is_refused_in_words(content: str | None, told: str, tmp_path: Path) -> None:
    path = tmp_path / "pages.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(StartError, match=told):
        read_pages(path)
