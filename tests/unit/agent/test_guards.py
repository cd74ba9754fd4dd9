"""The stall guard (AG-09): stops circles, lets honest work go on."""

import pytest

from werkbank.agent.guards import are_alike, is_stalled
from werkbank.domain.trace import ToolCallLog


def calls(*asked: tuple[int, str, str]) -> list[ToolCallLog]:
    return [
        ToolCallLog(
            run_id="r",
            round=round,
            call_id=str(position),
            position=position,
            name=name,
            arguments=arguments,
            status="succeeded",
        )
        for position, (round, name, arguments) in enumerate(asked)
    ]


RENT = '{"query": "monthly rent of the flat"}'
NEARLY = '{"query":"monthly rent of the flat "}'


@pytest.mark.parametrize(
    ("asked", "stalled"),
    [
        ([(1, "searchFiles", RENT), (2, "searchFiles", RENT), (3, "searchFiles", RENT)], True),
        ([(1, "searchFiles", RENT), (2, "searchFiles", NEARLY), (3, "searchFiles", RENT)], True),
        ([(1, "searchFiles", RENT), (2, "searchFiles", RENT)], False),
        ([(1, "searchFiles", RENT), (1, "searchFiles", RENT), (1, "searchFiles", RENT)], False),
        ([(1, "searchFiles", RENT), (2, "listFiles", "{}"), (3, "searchFiles", RENT)], False),
        ([(n, "readFile", f'{{"startLine": {n}}}') for n in (1, 2, 3)], False),
        ([(1, "searchFiles", "{"), (2, "searchFiles", "{"), (3, "searchFiles", "{ ")], True),
        ([], False),
    ],
)
def test_repeated_calls(asked: list[tuple[int, str, str]], stalled: bool) -> None:
    assert is_stalled([], calls(*asked)) is stalled


def test_repeated_answer() -> None:
    long = "I will now look through the contracts for the notice period."
    assert is_stalled([long, "Something else entirely, in other words.", long.upper()], [])
    assert not is_stalled(["Let me look.", "Let me look."], [])
    assert not is_stalled([long], [])


def test_other_numbers_are_another_question() -> None:
    assert not are_alike('{"page": 11, "file": "report.pdf"}', '{"page": 12, "file": "report.pdf"}')
    assert are_alike('{"b": 1, "a": 2}', '{"a": 2, "b": 1}')
