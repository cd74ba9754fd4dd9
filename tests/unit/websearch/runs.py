"""A run for tests of the web."""

from werkbank.domain.runs import Run
from werkbank.domain.time import utc_now


def some_run(language: str = "en") -> Run:
    """Return a running run."""
    return Run(
        id="run",
        mandate_id="m",
        user_id="u",
        kind="agent",
        zone="Europe/Zurich",
        language=language,
        started_at=utc_now(),
    )
