"""Own time per round and per tool call, against LangGraph with its Postgres checkpointer.

Both sides run in this process, on one PostgreSQL server, with a model that answers at once, the same answers and the
same tool results. Times are slopes: a run of many rounds less a run of few gives the round, a run with many calls a
round less one with one call gives the call; what a run costs once (starting, finding knowledge for the question,
concluding, remembering) is in neither.

Ours: the use cases behind check_budget, agent_round and execute_tool, with event log, ledger, limits, row-level
security, and pushes to a socket that does nothing. Every step reads what it needs from the database, since it may run
in any process. Theirs: one process that keeps the state in memory and writes checkpoints, as its documentation says
(autocommit, prepared statements, pipelines), durability "sync", streaming on. Neither side has Lambda, Step Functions
or a network in it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row

from tests.bench.langgraph_agent import Answer, bare, prebuilt
from tests.bench.measuring import Figure, ratio, taking_turns
from tests.integration.agent.harness import Harness
from tests.temporary_postgres import temporary_postgres
from werkbank.agent.summarization import Fold, Summaries
from werkbank.database.connection import Database
from werkbank.domain.ids import new_id
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.tools.catalog import TOOLS
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import Registry, tool

_TIMES = 30
_RESULT = "A line of what a tool has found, as long as such lines are. " * 20


class Shape(NamedTuple):
    """How many rounds a run has and how many calls every round but the last asks for."""

    rounds: int
    calls: int


_SHORT, _LONG, _BUSY = Shape(2, 1), Shape(10, 1), Shape(10, 5)
Run = Callable[[], None]


class _NoSummaries(Summaries):
    """The other side has none; a summary is a model call, and the model is not what is measured."""

    def fold(self, *_: object) -> tuple[Fold, ...]:
        """Leave every round whole."""
        return ()


Ready = Callable[[Shape], Run]


@tool(read_only=True)
def look_up(context: ToolContext, query: str) -> str:
    """Look something up."""
    return _RESULT


def _look_up(query: str) -> str:
    """Look something up."""
    return _RESULT


_look_up.__name__ = "lookUp"


def answers_of(shape: Shape) -> list[Answer]:
    """Return what the model says in a run of this shape."""
    calls = [
        [
            ToolCall(id=f"{round}-{n}", name="lookUp", arguments=f'{{"query": "rent of flat {round}{n}"}}')
            for n in range(shape.calls)
        ]
        for round in range(shape.rounds - 1)
    ]
    return [*calls, ["The answer, ", "in pieces."]]


def figures() -> Iterator[Figure]:
    """Measure."""
    with _sides() as sides:
        turns = {
            f"{name} {shape}": _timed(ready, shape)
            for shape in (_SHORT, _LONG, _BUSY)
            for name, ready in sides.items()
        }  # fmt: skip
        taken = taking_turns(_TIMES, turns, warm_up=2)
    for label, slope in (("Own time per round", _round), ("Own time per tool call", _call)):
        costs = {name: slope(*(taken[f"{name} {shape}"] for shape in (_SHORT, _LONG, _BUSY))) for name in sides}
        for name, other in (("prebuilt", "LangGraph's own agent"), ("bare", "a bare LangGraph graph")):
            how = f"{other}, PostgresSaver, durability sync; {_TIMES} runs each"
            yield Figure(f"{label} : {other}", ratio(costs["ours"], costs[name]), "≤ 1.0×", how)


def _round(short: list[float], long: list[float], busy: list[float]) -> list[float]:
    """A round without its call; every round but the last has one."""
    more = _LONG.rounds - _SHORT.rounds
    calls = _call(short, long, busy)
    return [(b - a) / more - call for a, b, call in zip(short, long, calls, strict=True)]


def _call(short: list[float], long: list[float], busy: list[float]) -> list[float]:
    more = (_BUSY.calls - _LONG.calls) * (_BUSY.rounds - 1)
    return [(b - a) / more for a, b in zip(long, busy, strict=True)]


def _timed(ready: Ready, shape: Shape) -> Callable[[], float]:
    def measure() -> float:
        run = ready(shape)
        begun = time.perf_counter()
        run()
        return (time.perf_counter() - begun) * 1_000

    return measure


@contextmanager
def _sides() -> Iterator[dict[str, Ready]]:
    with temporary_postgres() as server:
        database = Database(server.app.uri)
        principal = Principal(user_id=new_id(), mandate_id="bench")
        with database.session(principal) as session:
            session.mandates.ensure(None)
        options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        with psycopg.connect(server.owner.uri(), **options) as connection:
            saver = PostgresSaver(connection)
            saver.setup()
            yield {
                "ours": lambda shape: _ours(database, principal, shape),
                "prebuilt": lambda shape: prebuilt(saver, answers_of(shape), _look_up),
                "bare": lambda shape: bare(saver, answers_of(shape), _RESULT),
            }
        database.close()


def _ours(database: Database, principal: Principal, shape: Shape) -> Run:
    harness = Harness(database, answers_of(shape), Registry([*TOOLS, look_up]), summaries=_NoSummaries)
    ref = harness.start(principal)

    def run() -> None:
        harness.drive(ref)
        summary = harness.pushed.of_type("agentSummary")[-1].data
        assert summary["rounds"] == shape.rounds, "the run ended early"
        assert summary["toolCalls"] == shape.calls * (shape.rounds - 1)

    return run
