"""The time as it goes on within a run (AG-15)."""

from datetime import UTC, datetime, timedelta

from tests.unit.agent.test_history import stored
from werkbank.agent.history import conversation
from werkbank.agent.moments import moments
from werkbank.agent.summarization import Fold
from werkbank.domain.messages import Message, ToolCall
from werkbank.domain.runs import Run
from werkbank.domain.trace import ToolCallLog

BEGUN = datetime(2026, 11, 30, 9, tzinfo=UTC)
RUN = Run(id="now", mandate_id="m", user_id="u", workflow_id="w", kind="agent", zone="Europe/Zurich", started_at=BEGUN)


def ended(round: int, after: timedelta, position: int = 0, run_id: str = "now") -> ToolCallLog:
    """A call that came to its end so long after the run had begun."""
    return ToolCallLog(
        run_id=run_id, round=round, call_id=f"{round}{position}", position=position, name="t", arguments="{}",
        status="succeeded", result="found", completed_at=BEGUN + after,
    )  # fmt: skip


def test_time_is_told_again_when_it_is_outdated() -> None:
    minute, week = timedelta(minutes=1), timedelta(days=7)
    calls = [
        ended(1, 2 * minute), ended(2, week, 0), ended(2, 3 * minute, 1), ended(3, week + minute),
        ended(4, week + 10 * minute), ended(5, 2 * week, run_id="another"),
    ]  # fmt: skip
    told = moments(RUN, calls)
    assert {round: text.partition(": ")[2] for round, text in told.items()} == {
        2: "Monday, 2026-12-07 10:00 (Europe/Zurich, UTC+0100)",
        4: "Monday, 2026-12-07 10:10 (Europe/Zurich, UTC+0100)",
    }


def test_call_that_never_ended_tells_nothing() -> None:
    call = ended(1, timedelta(days=1)).model_copy(update={"status": "claimed", "completed_at": None})
    assert moments(RUN, [call]) == {}


def history(*folds: Fold) -> tuple[Message, ...]:
    asked = [ToolCall(id=f"{round}0", name="t", arguments="{}") for round in (1, 2, 3)]
    answers = [stored("now", round, "assistant", "", call) for round, call in enumerate(asked, 1)]
    said = [stored("now", 0, "user", "Go"), *answers]
    calls = [ended(1, timedelta(days=1)), ended(2, timedelta(days=2)), ended(3, timedelta(days=2))]
    return conversation(said, calls, RUN, folds)


def test_it_stands_behind_the_results() -> None:
    told = [message.content for message in history() if message.role == "tool"]
    assert ["2026-12-01" in told[0], "2026-12-02" in told[1], "2026-12" in told[2]] == [True, True, False]
    assert told[1].splitlines()[-1].startswith("Current date and time of the user: ")


def test_of_folded_rounds_the_last_time_stays() -> None:
    question, *_, result = history(Fold(first=1, last=2, text="Found two."))
    assert question.content.splitlines()[-1].startswith("Current date and time of the user: Wednesday, 2026-12-02")
    assert "2026-12-01" not in question.content
    assert "2026-12" not in result.content
