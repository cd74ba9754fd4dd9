"""Model keys come from this machine's environment and reach the functions as on AWS: through one secret."""

import json
from collections.abc import Mapping
from pathlib import Path

from infra.local.account import StartError
from infra.local.aws import Aws
from infra.local.deployment import Deployment

# Environment variable → name in the secret.
MODEL_KEYS = {
    "ANTHROPIC_API_KEY": "anthropicApiKey",
    "OPENAI_API_KEY": "openaiApiKey",
    "MISTRAL_API_KEY": "mistralApiKey",
    "WERKBANK_AGENT_MODEL": "agentModel",
    "PERPLEXITY_API_KEY": "perplexityApiKey",
    "TAVILY_API_KEY": "tavilyApiKey",
    "WERKBANK_BEDROCK_REGION": "bedrockRegion",
    "WERKBANK_PRIVATE_LLM_URL": "privateLlmUrl",
    "WERKBANK_PRIVATE_LLM_MODEL": "privateLlmModel",
    "WERKBANK_PRIVATE_LLM_API_KEY": "privateLlmApiKey",
    "WERKBANK_PRIVATE_LLM_CONTEXT_WINDOW": "privateLlmContextWindow",
    "WERKBANK_PRIVATE_LLM_MAX_OUTPUT_TOKENS": "privateLlmMaxOutputTokens",
    "WERKBANK_PRIVATE_LLM_VISION": "privateLlmVision",
    "WERKBANK_PRIVATE_LLM_TOOLS": "privateLlmTools",
    "WERKBANK_PRIVATE_EMBEDDINGS_URL": "privateEmbeddingsUrl",
    "WERKBANK_PRIVATE_EMBEDDINGS_MODEL": "privateEmbeddingsModel",
    "WERKBANK_ANTHROPIC_BASE_URL": "anthropicBaseUrl",
    "WERKBANK_OPENAI_BASE_URL": "openaiBaseUrl",
    "WERKBANK_MISTRAL_BASE_URL": "mistralBaseUrl",
    "WERKBANK_TAVILY_BASE_URL": "tavilyBaseUrl",
}
# The functions' role is not real here, so Bedrock takes the keys of whoever started the twin; nothing else may.
_BEDROCK_KEYS = {
    "AWS_ACCESS_KEY_ID": "bedrockAccessKeyId",
    "AWS_SECRET_ACCESS_KEY": "bedrockSecretAccessKey",
    "AWS_SESSION_TOKEN": "bedrockSessionToken",
}
# A JSON list of pages that are searched in place of the web; `search_pages.json` beside this module is one.
_SEARCH_PAGES = "WERKBANK_SEARCH_PAGES"
# Secrets Manager takes 65,536 bytes, and the keys need some of them.
_MAX_PAGES_BYTES = 60_000


def store_model_keys(aws: Aws, deployment: Deployment, environment: Mapping[str, str]) -> None:
    """Fills the secret that the functions know as MODEL_KEYS_SECRET_ARN; without any key it is an empty object."""
    wanted = {**MODEL_KEYS, **(_BEDROCK_KEYS if environment.get("WERKBANK_BEDROCK_REGION") else {})}
    keys: dict[str, object] = {name: environment[key] for key, name in wanted.items() if environment.get(key)}
    if path := environment.get(_SEARCH_PAGES):
        keys["searchPages"] = read_pages(Path(path))
    secrets = {function.environment.get("MODEL_KEYS_SECRET_ARN") for function in deployment.functions.values()}
    for arn in secrets - {None}:
        aws.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=json.dumps(keys))


def read_pages(path: Path) -> list[object]:
    """The pages of a file. Raises StartError for any that would make the secret unreadable."""
    try:
        content = path.read_bytes()
        pages = json.loads(content)
    except (OSError, ValueError) as error:
        raise StartError(f"{_SEARCH_PAGES} names {path}, which cannot be read as JSON: {error}.") from error
    if not isinstance(pages, list) or not all(map(_is_page, pages)):
        raise StartError(f'{path} must be a list of pages: [{{"url": "…", "title": "…", "snippet": "…"}}].')
    if len(content) > _MAX_PAGES_BYTES:
        raise StartError(f"{path} is larger than {_MAX_PAGES_BYTES:,} bytes. Leave pages out.")
    return pages


def _is_page(page: object) -> bool:
    if not isinstance(page, dict):
        return False
    texts = [page.get(name) for name in ("url", "title", "snippet")] + [page.get("date") or ""]
    return all(isinstance(text, str) for text in texts)
