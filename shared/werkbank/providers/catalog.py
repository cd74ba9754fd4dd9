"""The providers that the keys at hand open, ready to be called."""

from dataclasses import dataclass, field

from pydantic import SecretStr

from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Model, ProviderName
from werkbank.ai.protocols import ChatProvider, EmbeddingProvider, ExtractionProvider, SearchProvider
from werkbank.ai.registry import available_models
from werkbank.providers import mistral
from werkbank.providers.anthropic import AnthropicChat
from werkbank.providers.bedrock import AwsKeys, BedrockChat
from werkbank.providers.internal.chat import InternalChat
from werkbank.providers.internal.embedding import HashingEmbedder
from werkbank.providers.openai import OpenAiChat, OpenAiEmbeddings, OpenAiResponses
from werkbank.providers.search import PerplexitySearch, TavilySearch

# The SDK insists on a key; a server of one's own may want none.
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models that can be called, and who serves them by provider name."""

    models: tuple[Model, ...]
    chat_providers: dict[ProviderName, ChatProvider]
    embedding_providers: dict[ProviderName, EmbeddingProvider]
    search_providers: dict[ProviderName, SearchProvider] = field(default_factory=dict)
    extraction_providers: dict[ProviderName, ExtractionProvider] = field(default_factory=dict)


def build_catalog(keys: ModelKeys) -> Catalog:
    """Return models and providers for these keys. No SDK is loaded before a provider's first call."""
    catalog = Catalog(available_models(keys), {"internal": InternalChat()}, {"internal": HashingEmbedder()})
    _add_model_makers(catalog, keys)
    _add_private_servers(catalog, keys)
    if keys.perplexity_api_key is not None:
        catalog.search_providers["perplexity"] = PerplexitySearch(
            _text(keys.perplexity_api_key), keys.perplexity_base_url
        )
    if keys.tavily_api_key is not None:
        tavily = TavilySearch(_text(keys.tavily_api_key), keys.tavily_base_url)
        catalog.search_providers["tavily"] = catalog.extraction_providers["tavily"] = tavily
    return catalog


def _add_model_makers(catalog: Catalog, keys: ModelKeys) -> None:
    if keys.anthropic_api_key is not None:
        catalog.chat_providers["anthropic"] = AnthropicChat(_text(keys.anthropic_api_key), keys.anthropic_base_url)
    if keys.openai_api_key is not None:
        key = _text(keys.openai_api_key)
        catalog.chat_providers["openai"] = OpenAiResponses(key, keys.openai_base_url)
        catalog.embedding_providers["openai"] = OpenAiEmbeddings(key, keys.openai_base_url)
    if keys.mistral_api_key is not None:
        key, url = _text(keys.mistral_api_key), keys.mistral_base_url or mistral.BASE_URL
        catalog.chat_providers["mistral"] = OpenAiChat(key, url, "Mistral", mistral.build_parameters)
        catalog.embedding_providers["mistral"] = OpenAiEmbeddings(
            key, url, "Mistral", mistral.EMBEDDING_TOKENS_PER_CALL
        )
    if keys.bedrock_region:
        catalog.chat_providers["bedrock"] = BedrockChat(keys.bedrock_region, _aws_keys(keys), keys.bedrock_base_url)


def _add_private_servers(catalog: Catalog, keys: ModelKeys) -> None:
    if keys.private_llm_url:
        catalog.chat_providers["private"] = OpenAiChat(_text(keys.private_llm_api_key), keys.private_llm_url)
    if keys.private_embeddings_url:
        catalog.embedding_providers["private"] = OpenAiEmbeddings(
            _text(keys.private_embeddings_api_key), keys.private_embeddings_url, "The private embedding server"
        )


def _aws_keys(keys: ModelKeys) -> AwsKeys | None:
    if keys.bedrock_access_key_id is None or keys.bedrock_secret_access_key is None:
        return None
    token = keys.bedrock_session_token
    return AwsKeys(keys.bedrock_access_key_id, _text(keys.bedrock_secret_access_key), _text(token) if token else None)


def _text(key: SecretStr | None) -> str:
    return key.get_secret_value() if key is not None else _NO_KEY
