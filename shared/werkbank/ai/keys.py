"""The secret that says which providers may be used."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic.alias_generators import to_camel

from werkbank.ai.model import ProviderName
from werkbank.ai.protocols import SearchResult
from werkbank.observability import count, logger

Stage = Literal["AWSCURRENT", "AWSPREVIOUS"]


class ModelKeys(BaseModel):
    """The JSON of the model keys secret; every key is optional, unknown ones are left alone.

    On AWS Bedrock needs its region alone, the function's role may call it; elsewhere it needs AWS keys as well.
    A private LLM or embedding server is any that speaks OpenAI's API below the given URL (`http://host:8000/v1`).
    `private_llm_tools` off is for servers that leave tools out without a word; those that refuse them are noticed.
    `search_pages` are searched where no key opens the web, for development.
    `agent_model` (an id of the registry) fixes the model that answers whoever has not chosen one.
    """

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True, extra="ignore")

    agent_model: str | None = None
    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    mistral_api_key: SecretStr | None = None
    mistral_base_url: str | None = None
    bedrock_region: str | None = None
    bedrock_access_key_id: str | None = None
    bedrock_secret_access_key: SecretStr | None = None
    bedrock_session_token: SecretStr | None = None
    bedrock_base_url: str | None = None
    perplexity_api_key: SecretStr | None = None
    perplexity_base_url: str | None = None
    tavily_api_key: SecretStr | None = None
    tavily_base_url: str | None = None
    search_pages: tuple[SearchResult, ...] = ()
    private_llm_url: str | None = None
    private_llm_model: str = "default"
    private_llm_tools: bool = True
    private_llm_api_key: SecretStr | None = None
    private_llm_context_window: int = Field(default=32_768, gt=0)
    private_llm_vision: bool = False
    private_llm_max_output_tokens: int = Field(default=4_096, gt=0)
    private_embeddings_url: str | None = None
    private_embeddings_model: str = "default"
    private_embeddings_api_key: SecretStr | None = None
    private_embeddings_dimension: int | None = Field(default=None, gt=0)

    def address_of(self, provider: ProviderName) -> str | None:
        """Return where a provider is called; None where that is not configured."""
        return {
            "anthropic": self.anthropic_base_url,
            "openai": self.openai_base_url,
            "mistral": self.mistral_base_url,
            "bedrock": self.bedrock_base_url or self.bedrock_region,
            "private": self.private_llm_url,
        }.get(provider)


@dataclass(frozen=True, slots=True)
class LoadedKeys:
    """Keys and the version of the secret they stand in; `is_stand_in` when the current version cannot be read."""

    keys: ModelKeys
    version: str = ""
    is_stand_in: bool = False


def load_keys(read: Callable[[Stage], tuple[str, str] | None]) -> LoadedKeys:
    """Return the current keys; the version before where they are unreadable, and none where that is too (AG-13).

    `read` gives a version's text and id, None if there is no such version. An entry that is missing from a readable
    secret was taken out: nothing replaces it.
    """
    for stage in ("AWSCURRENT", "AWSPREVIOUS"):
        found = read(stage)
        if found is None:
            continue
        try:
            return LoadedKeys(ModelKeys.model_validate_json(found[0]), found[1], is_stand_in=stage != "AWSCURRENT")
        except ValidationError:  # its text quotes the keys
            logger.error("model keys unreadable", extra={"stage": stage})
            count("ModelKeysUnreadable")
    return LoadedKeys(ModelKeys(), is_stand_in=True)
