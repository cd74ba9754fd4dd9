"""What a user chooses for themselves, and an administrator for everyone of the mandate (WS-07)."""

from fastapi import APIRouter

from werkbank.ai.operations import Operation
from werkbank.domain.base import WireModel
from werkbank.domain.preferences import Preferences, Settings
from werkbank.domain.principal import Principal
from werkbank.rest.access import CurrentAdministrator, CurrentPrincipal, CurrentServices
from werkbank.rest.services import Services

router = APIRouter(tags=["preferences"])


class PreferencesChange(WireModel):
    """The new choice; null takes a choice back, so that what stands above it counts again."""

    web_search_enabled: bool | None


class SettingsView(Settings):
    """What holds, what it comes from, and whether a search provider is there at all."""

    can_search_web: bool


@router.get("/preferences")
def get_preferences(principal: CurrentPrincipal, services: CurrentServices) -> SettingsView:
    """Return what holds for the user from their next question on."""
    return _settings(principal, services)


@router.patch("/preferences")
def change_preferences(body: PreferencesChange, principal: CurrentPrincipal, services: CurrentServices) -> SettingsView:
    """Choose for oneself. Runs under way keep what held when they began."""
    with services.database.session(principal) as session:
        session.mandates.ensure(services.mandate_limit_chf)
        session.preferences.choose(Preferences(web_search_enabled=body.web_search_enabled))
    return _settings(principal, services)


@router.patch("/mandate/preferences")
def change_mandate_preferences(
    body: PreferencesChange, principal: CurrentAdministrator, services: CurrentServices
) -> SettingsView:
    """Choose for everyone of the mandate who has not chosen; needs role admin."""
    with services.database.session(principal) as session:
        session.mandates.ensure(services.mandate_limit_chf)
        session.preferences.choose_for_mandate(Preferences(web_search_enabled=body.web_search_enabled))
    return _settings(principal, services)


def _settings(principal: Principal, services: Services) -> SettingsView:
    with services.database.session(principal) as session:
        settings = session.preferences.settings()
    return SettingsView(**dict(settings), can_search_web=services.ai.can(Operation.WEB_SEARCH))
