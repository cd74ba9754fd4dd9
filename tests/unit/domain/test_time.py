"""Zones come from the client, which may say anything (AG-15)."""

from datetime import datetime

import pytest

from werkbank.domain.time import describe_moment, valid_zone


@pytest.mark.parametrize("name", ["Europe/Zurich", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "US/Pacific", "UTC"])
def test_zones_of_iana_are_taken(name: str) -> None:
    assert valid_zone(name) == name


@pytest.mark.parametrize(
    "name",
    [
        None, "", "localtime", "posixrules", "Factory", "right/Europe/Zurich", "posix/Europe/Zurich", "posix",
        "zone.tab", "tzdata.zi", "Europe", "europe/zurich", "Europe/Zurich ", "Europe/../Europe/Zurich",
        "/etc/localtime", ".", "Mars/Olympus", "x" * 5_000, "\ud800", "Europe/\x00",
    ],
)  # fmt: skip
def test_anything_else_is_utc(name: str | None) -> None:
    # never the server's own zone, whatever it is called
    assert valid_zone(name) == "UTC"


def test_moment_is_told_in_the_users_zone() -> None:
    moment = datetime.fromisoformat("2026-11-30T23:30:00+00:00")
    assert describe_moment(moment, "Europe/Zurich") == "Tuesday, 2026-12-01 00:30 (Europe/Zurich, UTC+0100)"
    assert describe_moment(moment, "localtime") == "Monday, 2026-11-30 23:30 (UTC, UTC+0000)"
