"""A model as the registry describes it."""

import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from pydantic import Field

from werkbank.ai.operations import Operation
from werkbank.domain.base import WireModel

ProviderName = Literal["anthropic", "openai", "private", "internal"]
Currency = Literal["CHF", "USD"]


class Capability(StrEnum):
    """What a model can do, and which parameters it takes (AI-04: what a model refuses is never sent)."""

    TOOLS = "tools"
    VISION = "vision"
    STREAMING = "streaming"
    CACHING = "caching"
    REASONING = "reasoning"
    TEMPERATURE = "temperature"


class Price(WireModel):
    """List prices per million tokens, with the day they were read and where."""

    currency: Currency
    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached_input: Decimal = Field(ge=0)
    cache_write: Decimal = Field(ge=0)
    read_on: datetime.date
    source: str


class Model(WireModel):
    """One model of one provider. `id` is unique among all; `name` is what the provider calls it.

    `context_window` and `max_output_tokens` count tokens; `price` None means unknown, which is not free.
    `ratings` holds 1 (usable) to 10 (best) for each operation the model is offered for.
    """

    id: str
    provider: ProviderName
    name: str
    label: str
    capabilities: frozenset[Capability] = frozenset()
    context_window: int = Field(gt=0)
    max_output_tokens: int = Field(ge=0)
    price: Price | None = None
    ratings: dict[Operation, int] = Field(default_factory=dict)
    embedding_dimension: int | None = None

    def can(self, capability: Capability) -> bool:
        """Tell whether the model has the capability."""
        return capability in self.capabilities

    @property
    def is_internal(self) -> bool:
        """Tell whether calls stay within this process: no data leaves, whatever it holds."""
        return self.provider == "internal"
