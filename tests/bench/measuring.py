"""How the figures are taken: what is compared takes turns in one run, and medians are reported with their quartiles.

The machine is shared and its speed drifts, so absolute times mean little; neighbours in time see the same machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

Side = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table."""

    name: str
    measured: str
    goal: str
    how: str

    def row(self) -> str:
        """Return the row in Markdown."""
        return f"| {self.name} | {self.measured} | {self.goal} | {self.how} |"


HEADER = "| figure | measured | goal | how |\n|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return the spread of at least two values."""
        low, _, high = quantiles(values, n=4)
        return cls(median(values), low, high)

    def __str__(self) -> str:
        return f"{self.median:.1f} ({self.low:.1f}–{self.high:.1f})"


def taking_turns(times: int, sides: Mapping[str, Side], warm_up: int = 1) -> dict[str, list[float]]:
    """Measure all sides one after the other, over and over (ABCABC…); the first `warm_up` turns do not count."""
    measured: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(warm_up + times):
        for name, side in sides.items():
            value = side()
            if turn >= warm_up:
                measured[name].append(value)
    return measured


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Return by how much the first is slower, with both sides' milliseconds: `0.80× (8.0 ms : 10.0 ms)`."""
    mine, other = Spread.of(ours), Spread.of(theirs)
    return f"**{mine.median / other.median:.2f}×**: {mine} : {other} ms"
