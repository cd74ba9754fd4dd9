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
    """A model to be asked in place of what is broken, and who serves it.

    `answered_under` is the version of the keys that it is served under, where that is an earlier one.
    """

    model: Model
    provider: ChatProvider
    answered_under: str | None = None


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
        able = (good for good in self._latest(principal, wish) if may_use(good.model) and _fits(good.model, wish))
        return next(filter(None, (self._instead_of(good, error, failed) for good in able)), None)

    def standing_in(self, principal: Principal, wish: ModelWish, may_use: Callable[[Model], bool]) -> StandIn | None:
        """Return what stood in at an earlier address when the run was answered last, as long as nothing has changed.

        So that an address that does not answer costs a run one wait, not one a round.
        """
        choice = wish.choice
        if choice.kept_under in {None, self._current.version}:
            return None
        for good in self._latest(principal, wish):
            if (good.model.id, good.keys_version) == (choice.kept, choice.kept_under) and may_use(good.model):
                return self._at_earlier_address(good) if _fits(good.model, wish) else None
        return None

    def _latest(self, principal: Principal, wish: ModelWish) -> Sequence[GoodModel]:
        with self._database.session(principal) as session:
            return session.good_models.latest(wish.operation)

    def _instead_of(self, good: GoodModel, error: Exception, failed: Model | None) -> StandIn | None:
        """Return it as served now, or at an earlier address before; None where it would fail alike or must not be."""
        if failed is None or (isinstance(error, ModelNotFound) and failed.provider != good.model.provider):
            return self._as_served_now(good)
        if failed.provider != good.model.provider:
            return self._as_served_now(good) if good.keys_version != self._current.version else None
        if isinstance(error, ProviderRefused):
            return None
        is_another = isinstance(error, ModelNotFound) and failed.id != good.model.id
        return self._at_earlier_address(good) or (self._as_served_now(good) if is_another else None)

    def _as_served_now(self, good: GoodModel) -> StandIn | None:
        provider = self._current.providers.chat.get(good.model.provider)
        return StandIn(good.model, provider) if provider else None

    def _at_earlier_address(self, good: GoodModel) -> StandIn | None:
        """Return it at the address it answered at, with the key of its time; None where that has not changed."""
        name, version = good.model.provider, good.keys_version
        earlier = self._earlier(version) if version != self._current.version else None
        if earlier is None or earlier.keys.address_of(name) == self._current.keys.address_of(name):
            return None
        provider = earlier.providers.chat.get(name)
        return StandIn(good.model, provider, version) if provider else None


def _may_be_the_configurations_fault(error: Exception) -> bool:
    if isinstance(error, BudgetExceeded | TooLarge):
        return False
    return isinstance(error, UserError | ModelNotFound | ProviderUnavailable | ProviderRefused)


def _fits(model: Model, wish: ModelWish) -> bool:
    try:
        return bool(select_models((model,), replace(wish, choice=BEST_MODEL)))
    except UserError:
        return False
