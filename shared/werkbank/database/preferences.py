"""What people and mandates have chosen (WS-07). Row-level security leaves a person one row of each table to see."""

from werkbank.database.store import Store
from werkbank.domain.preferences import Preferences, Settings

_OWN = "(SELECT web_search_enabled FROM user_preference)"
_MANDATE = "(SELECT web_search_enabled FROM mandate_preference)"
# The precedence, for settings and for the runs that begin under them.
WEB_SEARCH_ENABLED = f"coalesce({_OWN}, {_MANDATE}, true)"


class PreferenceStore(Store):
    """The principal's preferences, and their mandate's."""

    def settings(self) -> Settings:
        """Return what holds for the principal and where it comes from."""
        row = self._row(f"SELECT {WEB_SEARCH_ENABLED} AS enabled, {_OWN} AS own, {_MANDATE} AS mandate")
        assert row
        return Settings(
            web_search_enabled=row["enabled"],
            own=Preferences(web_search_enabled=row["own"]),
            mandate=Preferences(web_search_enabled=row["mandate"]),
        )

    def choose(self, chosen: Preferences) -> None:
        """Replace the principal's own choices."""
        self._run(
            "INSERT INTO user_preference (mandate_id, user_id, web_search_enabled) VALUES (%s, %s, %s)"
            " ON CONFLICT (mandate_id, user_id) DO UPDATE SET web_search_enabled = excluded.web_search_enabled",
            (self._principal.mandate_id, self._principal.user_id, chosen.web_search_enabled),
        )

    def choose_for_mandate(self, chosen: Preferences) -> None:
        """Replace the mandate's choices. The database refuses (Forbidden) whoever is no administrator of it."""
        self._run(
            "INSERT INTO mandate_preference (mandate_id, web_search_enabled) VALUES (%s, %s)"
            " ON CONFLICT (mandate_id) DO UPDATE SET web_search_enabled = excluded.web_search_enabled",
            (self._principal.mandate_id, chosen.web_search_enabled),
        )
