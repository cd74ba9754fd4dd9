"""The stall guard (AG-09): stops circles, lets honest work go on."""

import json
from itertools import count

import pytest

from werkbank.agent.guards import LATEST_CALLS, are_alike, stall_of
from werkbank.domain.trace import ToolCallLog

Asked = tuple[str, str]
LIST: Asked = ("listFiles", "{}")
RENT: Asked = ("searchFiles", '{"query": "monthly rent of the flat"}')
NOTICE: Asked = ("searchFiles", '{"query": "notice period"}')


def calls(*rounds: list[Asked]) -> list[ToolCallLog]:
    """The calls of rounds, as the loop looks at them: the latest only."""
    ids = count()
    asked = [(round, *call) for round, several in enumerate(rounds, 1) for call in several]
    return [
        ToolCallLog(
            run_id="r", round=round, call_id=str(next(ids)), position=0, name=name, arguments=arguments, status="failed"
        )
        for round, name, arguments in asked
    ][-LATEST_CALLS:]


def search(query: str) -> Asked:
    return ("searchFiles", json.dumps({"query": query}))


def read(file: str, start: int = 1) -> Asked:
    return ("readFile", json.dumps({"file": file, "startLine": start}))


def write(name: str, content: str) -> Asked:
    return ("writeFile", json.dumps({"name": name, "content": content}))


PARAGRAPHS = [" ".join(f"{word}{letter}" for word in ("Miete", "Frist", "Kaution", "Bad")) for letter in "abcdefghijkl"]


@pytest.mark.parametrize(
    "rounds",
    [
        [[LIST]] * 3,
        [[LIST, LIST]] * 3,
        [[LIST, RENT]] * 3,
        [[LIST, RENT], [RENT, LIST], [LIST, RENT]],
        [[LIST], [RENT]] * 3,
        [[LIST], [RENT], [NOTICE]] * 3,
        [[LIST] * 12],
        [[LIST, RENT] * 6],
        [[NOTICE], [read("a.pdf")], [LIST], [LIST], [LIST]],
        [[search("Monthly rent, flat")], [search("flat: monthly rent")], [search("flat monthly rents")]],
    ],
)
def test_circles_are_noticed(rounds: list[list[Asked]]) -> None:
    assert stall_of([], calls(*rounds)) == "circle"


@pytest.mark.parametrize(
    "rounds",
    [
        [],
        [[LIST]] * 2,
        [[LIST] * 3],
        [[LIST], [RENT], [LIST]],
        [[LIST], [RENT], [NOTICE]] * 2,
        [[read("report.pdf", line)] for line in range(1, 4_000, 400)],
        [[read(f"{name}.pdf")] for name in ("basel", "bern", "biel", "chur")],
        [[read(f"{name}.pdf") for name in ("basel", "bern", "biel", "chur", "genf", "zug", "aarau")]],
        [[search(f"Kündigungsfrist im Mietvertrag {city}")] for city in ("Basel", "Bern", "Biel", "Chur")],
        [[write("report.md", "\n".join(PARAGRAPHS[:n]))] for n in range(1, 12)],
        [[LIST, write("report.md", paragraph)] for paragraph in PARAGRAPHS],
        [[write(f"letter-{name}.md", f"Dear {name}, {' '.join(PARAGRAPHS)}")] for name in ("Ada", "Bo", "Cleo", "Dan")],
        [[search("C")], [search("C++")], [search("C#")]],
    ],
)
def test_honest_work_goes_on(rounds: list[list[Asked]]) -> None:
    assert stall_of([], calls(*rounds)) is None


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ('{"b": 1, "a": 2}', '{"a": 2, "b": 1}', True),
        ('{"query": "Rents of the flat"}', '{"query":"the flat: rent of "}', True),
        ('{"query": "Kündigung Wohnungen"}', '{"query": "Wohnung, Kündigungen"}', True),
        ('{"page": 11, "file": "report.pdf"}', '{"page": 12, "file": "report.pdf"}', False),
        ('{"from": "a", "to": "b"}', '{"from": "b", "to": "a"}', False),
        ('{"query": "rent"}', '{"query": "rent", "folder": "Basel"}', False),
        (json.dumps({"content": " ".join(PARAGRAPHS)}), json.dumps({"content": " ".join([*PARAGRAPHS, "Ende"])}), True),
        ("{", "{ ", True),
        ("[" * 100_000, "[" * 100_000, True),
        ("[1]", "[2]", False),
        ("", "{}", True),
    ],
)
def test_likeness(first: str, second: str, alike: bool) -> None:
    assert are_alike(first, second) is alike


def test_long_arguments_are_compared_in_linear_time() -> None:
    # Character by character, as they were compared, these would take hours.
    rounds = [[write("report.md", "ab" * 500_000 + str(n))] for n in range(3)]
    assert stall_of([], calls(*rounds)) is None


READ_ON = "I will now read the next part of this long document."
ANSWER = "The rent is CHF 1,200 a month, payable in advance. " * 5


@pytest.mark.parametrize(
    ("texts", "rounds", "stall"),
    [
        ([ANSWER, "In other words.", ANSWER.upper()], [], "circle"),
        ([ANSWER], [], None),
        ([READ_ON] * 2, [[read("a.pdf")], [read("b.pdf")]], None),
        (["Once more."] * 6, [[search(chr(97 + n) * 9)] for n in range(6)], "circle"),
        (["Once more."] * 5, [[search(chr(97 + n) * 9)] for n in range(5)], None),
        ([READ_ON] * 20, [[read("a.pdf", line)] for line in range(20)], None),
        ([""] * 20, [[search(chr(97 + n) * 9)] for n in range(20)], None),
    ],
)
def test_repeated_words(texts: list[str], rounds: list[list[Asked]], stall: str | None) -> None:
    assert stall_of(texts, calls(*rounds)) == stall


CUT = '{"name": "report.md", "content": "A long'


@pytest.mark.parametrize(
    ("rounds", "stall"),
    [
        ([[("writeFile", CUT)], [("writeFile", CUT + " and other text")]], "cutOff"),
        ([[("writeFile", CUT)], [("writeFile", '{"name"')]], "cutOff"),
        ([[("writeFile", CUT)]], None),
        ([[("writeFile", CUT)], [LIST], [("writeFile", CUT + " text")]], None),
        ([[LIST, ("writeFile", CUT)], [RENT, ("writeFile", CUT + " text")]], None),
        ([[("searchFiles", "{'query': 'rent'}")], [("searchFiles", "{'query': 'flat'}")]], None),
        ([[("listFiles", "")], [("listFiles", " ")]], None),
    ],
)
def test_calls_that_are_cut_off_twice_in_a_row_end_the_run(rounds: list[list[Asked]], stall: str | None) -> None:
    assert stall_of([], calls(*rounds)) == stall
