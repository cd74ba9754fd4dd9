"""Last known good: the configuration that answered last stands in when a change breaks it, and the run says so (AG-13).

What is kept is the model as the registry described it and the version of the secret that its key and address came
from, never a key. It stands in where the configuration is to blame: nothing fits, a model is gone, or the keys changed
since it answered and the new ones lead nowhere. Two things it never does: give somebody a model that they may not use,
and use a key that was replaced or taken away on its own – that is somebody's decision, and its failure is for a person
to see (AG-11). A changed address that does not answer is left for the earlier one, which goes with the key of its time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Model
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import ChatProvider, Providers
from werkbank.ai.selector import BEST_MODEL, ModelWish, select_models
from werkbank.domain.base import WireModel
from werkbank.domain.errors import (
    BudgetExceeded,
    ModelNotFound,
    ProviderRefused,
    ProviderUnavailable,
    TooLarge,
    UserError,
)
from werkbank.domain.principal import Principal
from werkbank.domain.unit_of_work import UnitOfWork


class GoodModel(WireModel):
    """A model that has answered, and the version of the keys it answered under."""

    model: Model
    keys_version: str


class GoodModelStore(Protocol):
    """What has answered a mandate."""

    def keep(self, operation: Operation, good: GoodModel) -> None: ...
    def latest(self, operation: Operation) -> Sequence[GoodModel]: ...


class GoodModelSession(Protocol):
    """The stores used here."""

    @property
    def good_models(self) -> GoodModelStore: ...


@dataclass(frozen=True, slots=True)
class Connected:
    """Keys of one version with the providers that they open."""

    keys: ModelKeys
    version: str
    providers: Providers


@dataclass(frozen=True, slots=True)
class StandIn:
    """A model to be asked in place of what is broken, and who serves it."""

    model: Model
    provider: ChatProvider


class LastGood:
    """Keeps and finds what answered. `earlier` connects an earlier version of the keys, None where it is gone."""

    def __init__(
        self,
        database: UnitOfWork[GoodModelSession],
        current: Connected,
        earlier: Callable[[str], Connected | None],
    ) -> None:
        self._database = database
        self._current = current
        self._earlier = earlier
        self._kept: dict[tuple[str, Operation], Model] = {}

    def keep(self, principal: Principal, operation: Operation, model: Model) -> None:
        """Note that a model has answered. One that quotes offline is what remains when all else fails: not noted."""
        place = (principal.mandate_id, operation)
        if model.is_internal or self._kept.get(place) == model:
            return
        with self._database.session(principal) as session:
            session.good_models.keep(operation, GoodModel(model=model, keys_version=self._current.version))
        self._kept[place] = model

    def stand_in(
        self,
        principal: Principal,
        wish: ModelWish,
        may_use: Callable[[Model], bool],
        error: Exception,
        failed: Model | None,
    ) -> StandIn | None:
        """Return the latest that may stand in after this error, of the call to `failed` or (None) of the selection."""
        if not _may_be_the_configurations_fault(error):
            return None
        with self._database.session(principal) as session:
            latest = session.good_models.latest(wish.operation)
        for good in latest:
            if may_use(good.model) and _fits(good.model, wish):
                provider = self._provider_of(good, error, failed)
                if provider is not None:
                    return StandIn(good.model, provider)
        return None

    def _provider_of(self, good: GoodModel, error: Exception, failed: Model | None) -> ChatProvider | None:
        """Return who serves it now, or did at an earlier address; None where it would fail alike or must not be."""
        now = self._current.providers.chat.get(good.model.provider)
        has_changed = good.keys_version != self._current.version
        if failed is None or (isinstance(error, ModelNotFound) and failed.provider != good.model.provider):
            return now
        if failed.provider != good.model.provider:
            return now if has_changed else None
        if isinstance(error, ProviderRefused):
            return None
        earlier = self._earlier(good.keys_version) if has_changed else None
        address = self._current.keys.address_of(failed.provider)
        if earlier is not None and earlier.keys.address_of(failed.provider) != address:
            return earlier.providers.chat.get(failed.provider)
        return now if isinstance(error, ModelNotFound) and failed.id != good.model.id else None


def _may_be_the_configurations_fault(error: Exception) -> bool:
    if isinstance(error, BudgetExceeded | TooLarge):
        return False
    return isinstance(error, UserError | ModelNotFound | ProviderUnavailable | ProviderRefused)


def _fits(model: Model, wish: ModelWish) -> bool:
    try:
        return bool(select_models((model,), replace(wish, choice=BEST_MODEL)))
    except UserError:
        return False
