"""What people choose for themselves and administrators for everyone (WS-07)."""

from werkbank.domain.base import WireModel


class Preferences(WireModel):
    """Choices; None is no choice, so that what stands above it counts."""

    web_search_enabled: bool | None = None


class Settings(WireModel):
    """What holds for a person, and what it comes from: the default, then their mandate's choice, then their own."""

    web_search_enabled: bool
    own: Preferences
    mandate: Preferences
