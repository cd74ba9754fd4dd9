"""The providers that the keys at hand open, ready to be called."""

from dataclasses import dataclass

from pydantic import SecretStr

from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Model
from werkbank.ai.protocols import Providers
from werkbank.ai.registry import available_models
from werkbank.providers import mistral
from werkbank.providers.anthropic import AnthropicChat
from werkbank.providers.bedrock import BedrockChat
from werkbank.providers.bedrock_connection import AwsKeys, BedrockConnection
from werkbank.providers.bedrock_images import BedrockImages
from werkbank.providers.internal.chat import InternalChat
from werkbank.providers.internal.embedding import HashingEmbedder
from werkbank.providers.internal.sample_pages import SamplePages
from werkbank.providers.mistral_speech import MistralSpeech
from werkbank.providers.openai import OpenAiChat, OpenAiEmbeddings, OpenAiResponses
from werkbank.providers.openai_audio import OpenAiSpeech, OpenAiTranscription
from werkbank.providers.openai_images import OpenAiImages
from werkbank.providers.reader import PageReader
from werkbank.providers.search import PerplexitySearch, TavilySearch

# The SDK insists on a key; a server of one's own may want none.
_NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models that can be called, and who serves them."""

    models: tuple[Model, ...]
    providers: Providers


def build_catalog(keys: ModelKeys) -> Catalog:
    """Return models and providers for these keys. No SDK is loaded before a provider's first call."""
    providers = Providers(
        chat={"internal": InternalChat()},
        embedding={"internal": HashingEmbedder()},
        extraction={"reader": PageReader()},
    )
    if keys.anthropic_api_key is not None:
        providers.chat["anthropic"] = AnthropicChat(_text(keys.anthropic_api_key), keys.anthropic_base_url)
    _add_openai(providers, keys)
    _add_mistral(providers, keys)
    _add_bedrock(providers, keys)
    _add_private_servers(providers, keys)
    _add_search(providers, keys)
    return Catalog(available_models(keys), providers)


def _add_openai(providers: Providers, keys: ModelKeys) -> None:
    if keys.openai_api_key is None:
        return
    key, url = _text(keys.openai_api_key), keys.openai_base_url
    providers.chat["openai"] = OpenAiResponses(key, url)
    providers.embedding["openai"] = OpenAiEmbeddings(key, url)
    providers.image["openai"] = OpenAiImages(key, url)
    providers.speech["openai"] = OpenAiSpeech(key, url)
    providers.transcription["openai"] = OpenAiTranscription(key, url)


def _add_mistral(providers: Providers, keys: ModelKeys) -> None:
    if keys.mistral_api_key is None:
        return
    key, url = _text(keys.mistral_api_key), keys.mistral_base_url or mistral.BASE_URL
    providers.chat["mistral"] = OpenAiChat(key, url, "Mistral", mistral.build_parameters)
    providers.embedding["mistral"] = OpenAiEmbeddings(key, url, "Mistral", mistral.EMBEDDING_TOKENS_PER_CALL)
    providers.speech["mistral"] = MistralSpeech(key, url)
    providers.transcription["mistral"] = OpenAiTranscription(key, url, "Mistral")


def _add_bedrock(providers: Providers, keys: ModelKeys) -> None:
    if keys.bedrock_region:
        connection = BedrockConnection(keys.bedrock_region, _aws_keys(keys), keys.bedrock_base_url)
        providers.chat["bedrock"] = BedrockChat(connection)
        providers.image["bedrock"] = BedrockImages(connection)


def _add_search(providers: Providers, keys: ModelKeys) -> None:
    if keys.perplexity_api_key is not None:
        providers.search["perplexity"] = PerplexitySearch(_text(keys.perplexity_api_key), keys.perplexity_base_url)
    if keys.tavily_api_key is not None:
        tavily = TavilySearch(_text(keys.tavily_api_key), keys.tavily_base_url)
        providers.search["tavily"] = providers.extraction["tavily"] = tavily
    if keys.search_pages:
        providers.search["internal"] = SamplePages(keys.search_pages)


def _add_private_servers(providers: Providers, keys: ModelKeys) -> None:
    if keys.private_llm_url:
        providers.chat["private"] = OpenAiChat(_text(keys.private_llm_api_key), keys.private_llm_url)
    if keys.private_embeddings_url:
        providers.embedding["private"] = OpenAiEmbeddings(
            _text(keys.private_embeddings_api_key), keys.private_embeddings_url, "The private embedding server"
        )


def _aws_keys(keys: ModelKeys) -> AwsKeys | None:
    if keys.bedrock_access_key_id is None or keys.bedrock_secret_access_key is None:
        return None
    token = keys.bedrock_session_token
    return AwsKeys(keys.bedrock_access_key_id, _text(keys.bedrock_secret_access_key), _text(token) if token else None)


def _text(key: SecretStr | None) -> str:
    return key.get_secret_value() if key is not None else _NO_KEY
