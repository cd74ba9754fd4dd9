"""The providers that the keys at hand open, ready to be called."""

from dataclasses import dataclass

from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Model, ProviderName
from werkbank.ai.protocols import ChatProvider, EmbeddingProvider
from werkbank.ai.registry import available_models
from werkbank.providers.anthropic import AnthropicChat
from werkbank.providers.internal.chat import InternalChat
from werkbank.providers.internal.embedding import HashingEmbedder
from werkbank.providers.openai import OpenAiChat, OpenAiEmbeddings, OpenAiResponses

# The SDK insists on a key; a server of one's own may want none.
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models that can be called, and who serves them by provider name."""

    models: tuple[Model, ...]
    chat_providers: dict[ProviderName, ChatProvider]
    embedding_providers: dict[ProviderName, EmbeddingProvider]


def build_catalog(keys: ModelKeys) -> Catalog:
    """Return models and providers for these keys. No SDK is loaded before a provider's first call."""
    chat: dict[ProviderName, ChatProvider] = {"internal": InternalChat()}
    embedding: dict[ProviderName, EmbeddingProvider] = {"internal": HashingEmbedder()}
    if keys.anthropic_api_key is not None:
        chat["anthropic"] = AnthropicChat(keys.anthropic_api_key.get_secret_value(), keys.anthropic_base_url)
    if keys.openai_api_key is not None:
        key = keys.openai_api_key.get_secret_value()
        chat["openai"] = OpenAiResponses(key, keys.openai_base_url)
        embedding["openai"] = OpenAiEmbeddings(key, keys.openai_base_url)
    if keys.private_llm_url:
        key = keys.private_llm_api_key.get_secret_value() if keys.private_llm_api_key else _NO_KEY
        chat["private"] = OpenAiChat(key, keys.private_llm_url)
    if keys.private_embeddings_url:
        key = keys.private_embeddings_api_key.get_secret_value() if keys.private_embeddings_api_key else _NO_KEY
        embedding["private"] = OpenAiEmbeddings(key, keys.private_embeddings_url, "The private embedding server")
    return Catalog(available_models(keys), chat, embedding)
