"""Time: stored in UTC, told to a person in the zone their client named (AG-15)."""

from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

_FALLBACK = "UTC"
# Of IANA's list, but nowhere on earth: what a computer is set to before anyone has said where it stands.
_NOWHERE = frozenset({"Factory"})


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def valid_zone(name: str | None) -> str:
    """Return the IANA zone name if there is such a zone, else UTC; never the server's own zone."""
    return name if name in _zones() else _FALLBACK


@cache
def _zones() -> frozenset[str]:
    # Not what ZoneInfo finds: the server's files name its own zone, too (localtime, posixrules), and others twice.
    return frozenset(files("tzdata").joinpath("zones").read_text().split()) - _NOWHERE


def describe_moment(moment: datetime, zone: str) -> str:
    """Say date, weekday and time of a moment in a zone, for a model that would otherwise guess the date."""
    local = moment.astimezone(ZoneInfo(valid_zone(zone)))
    return f"{local:%A, %Y-%m-%d %H:%M} ({valid_zone(zone)}, UTC{local:%z})"
