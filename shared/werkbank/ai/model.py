"""A model as the registry describes it."""

import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from pydantic import Field

from werkbank.ai.operations import Operation
from werkbank.domain.base import WireModel

ProviderName = Literal[
    "anthropic", "openai", "mistral", "bedrock", "perplexity", "tavily", "private", "internal", "reader"
]
Currency = Literal["CHF", "USD"]


class Capability(StrEnum):
    """What a model can do, and which parameters it takes (AI-04: what a model refuses is never sent).

    With `notes` it says between tool calls what it is doing, but only where it is asked to.
    """

    TOOLS = "tools"
    VISION = "vision"
    STREAMING = "streaming"
    CACHING = "caching"
    REASONING = "reasoning"
    TEMPERATURE = "temperature"
    NOTES = "notes"


class Rates(WireModel):
    """What a million tokens of each kind cost, in the price's currency. `cached_input` is the price of a cache hit."""

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached_input: Decimal = Field(ge=0)
    cache_write: Decimal = Field(ge=0)


class LongPromptRates(Rates):
    """The rates of a whole call, answer included, once its prompt is longer than `above_tokens`."""

    above_tokens: int = Field(gt=0)


class Price(Rates):
    """A model's list price with the day it was read and where.

    `unit` is what each unit costs besides tokens: a request, a picture, a second of sound heard or a character spoken,
    whichever the model's operation counts.
    """

    currency: Currency
    unit: Decimal = Field(default=Decimal(0), ge=0)
    read_on: datetime.date
    source: str
    long_prompt: LongPromptRates | None = None

    def rates_for(self, prompt_tokens: int) -> Rates:
        """Return the rates that hold for a prompt of this length."""
        if self.long_prompt is not None and prompt_tokens > self.long_prompt.above_tokens:
            return self.long_prompt
        return self


class Model(WireModel):
    """One model of one provider. `id` is unique among all; `name` is what the provider calls it.

    `context_window` and `max_output_tokens` count tokens; `price` None means unknown, which is not free.
    `ratings` holds 1 (usable) to 10 (best) for each operation the model is offered for. An embedding model may want
    its texts marked: `query_prefix` goes before a question, `passage_prefix` before what is to be found. `regions` are
    the only ones of the provider's that have the model; empty means all.
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
    query_prefix: str = ""
    passage_prefix: str = ""
    regions: frozenset[str] = frozenset()

    def can(self, capability: Capability) -> bool:
        """Tell whether the model has the capability."""
        return capability in self.capabilities

    @property
    def is_internal(self) -> bool:
        """Tell whether calls stay within this process: no data leaves, whatever it holds."""
        return self.provider == "internal"
