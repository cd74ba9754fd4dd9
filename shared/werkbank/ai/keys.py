"""The secret that says which providers may be used."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic.alias_generators import to_camel


class ModelKeys(BaseModel):
    """The JSON of the model keys secret; every key is optional, unknown ones are left alone.

    On AWS Bedrock needs its region alone, the function's role may call it; elsewhere it needs AWS keys as well.
    A private LLM or embedding server is any that speaks OpenAI's API below the given URL (`http://host:8000/v1`).
    `private_llm_tools` off is for servers that leave tools out without a word; those that refuse them are noticed.
    """

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True, extra="ignore")

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
