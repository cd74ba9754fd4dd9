"""Time: stored in UTC, told to a person in the zone their client named (AG-15)."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_FALLBACK = "UTC"


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def valid_zone(name: str | None) -> str:
    """Return the IANA zone name if there is such a zone, else UTC; never the server's own zone."""
    if not name:
        return _FALLBACK
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return _FALLBACK


def describe_moment(moment: datetime, zone: str) -> str:
    """Say date, weekday and time of a moment in a zone, for a model that would otherwise guess the date."""
    local = moment.astimezone(ZoneInfo(valid_zone(zone)))
    return f"{local:%A, %Y-%m-%d %H:%M} ({valid_zone(zone)}, UTC{local:%z})"
