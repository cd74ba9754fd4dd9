"""The registry: models as data, and which of them the keys at hand make available (AI-03)."""

import datetime
import tomllib
from decimal import Decimal
from functools import cache
from importlib.resources import files

from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Capability, Model, Price, ProviderName
from werkbank.ai.operations import Operation

_PRIVATE_CHAT_RATINGS = {
    Operation.PLAN: 5,
    Operation.AGENT: 5,
    Operation.DATA_ANALYSE: 5,
    Operation.DATA_GENERATE: 5,
    Operation.DATA_EXTRACT: 5,
}
_FREE = Decimal(0)


@cache
def listed_models() -> tuple[Model, ...]:
    """Return every model of `models.toml`, in its order."""
    text = files("werkbank.ai").joinpath("models.toml").read_text(encoding="utf-8")
    return tuple(Model.model_validate(entry) for entry in tomllib.loads(text)["models"])


def available_models(keys: ModelKeys) -> tuple[Model, ...]:
    """Return the models these keys open, the private servers' and the internal ones included."""
    openings: dict[ProviderName, object] = {
        "internal": True,
        "reader": True,
        "anthropic": keys.anthropic_api_key,
        "openai": keys.openai_api_key,
        "mistral": keys.mistral_api_key,
        "bedrock": keys.bedrock_region,
        "perplexity": keys.perplexity_api_key,
        "tavily": keys.tavily_api_key,
    }
    providers = {provider for provider, opening in openings.items() if opening}
    listed = (model for model in listed_models() if model.provider in providers and _is_offered(model, keys))
    return (*listed, *_private_models(keys), *([_sample_pages()] if keys.search_pages else []))


def _is_offered(model: Model, keys: ModelKeys) -> bool:
    return not model.regions or keys.bedrock_region in model.regions


def _private_models(keys: ModelKeys) -> tuple[Model, ...]:
    chat = _private_chat(keys) if keys.private_llm_url else None
    embedding = _private_embedding(keys) if keys.private_embeddings_url else None
    return tuple(model for model in (chat, embedding) if model is not None)


def _private_chat(keys: ModelKeys) -> Model:
    tools = [Capability.TOOLS] if keys.private_llm_tools else []
    vision = [Capability.VISION] if keys.private_llm_vision else []
    return Model(
        id=f"private/{keys.private_llm_model}",
        provider="private",
        name=keys.private_llm_model,
        label=f"{keys.private_llm_model} (private)",
        capabilities=frozenset({Capability.STREAMING, Capability.TEMPERATURE, *tools, *vision}),
        context_window=keys.private_llm_context_window,
        max_output_tokens=min(keys.private_llm_max_output_tokens, keys.private_llm_context_window),
        price=_free("the operator's own server"),
        ratings=_PRIVATE_CHAT_RATINGS | ({Operation.IMAGE_ANALYSE: 5} if keys.private_llm_vision else {}),
    )


def _private_embedding(keys: ModelKeys) -> Model:
    # The E5 family was trained with these marks and loses several points of recall without them.
    is_e5 = "e5" in keys.private_embeddings_model.lower()
    return Model(
        id=f"private/embedding/{keys.private_embeddings_model}",
        provider="private",
        name=keys.private_embeddings_model,
        label=f"{keys.private_embeddings_model} (private)",
        context_window=8_192,
        max_output_tokens=0,
        price=_free("the operator's own server"),
        ratings={Operation.EMBEDDING: 10},
        embedding_dimension=keys.private_embeddings_dimension,
        query_prefix="query: " if is_e5 else "",
        passage_prefix="passage: " if is_e5 else "",
    )


def _sample_pages() -> Model:
    # Internal, so it is asked only where nothing else searches, and never stands in for what does.
    return Model(
        id="internal/sample-pages",
        provider="internal",
        name="sample-pages",
        label="Sample pages",
        context_window=4_096,
        max_output_tokens=0,
        price=_free("runs in this process"),
        ratings={Operation.WEB_SEARCH: 1},
    )


def _free(source: str) -> Price:
    return Price(
        currency="CHF",
        input=_FREE,
        output=_FREE,
        cached_input=_FREE,
        cache_write=_FREE,
        read_on=datetime.date(2026, 11, 30),
        source=source,
    )
