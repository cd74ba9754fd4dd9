"""The catalog offers what the keys open, and loads no SDK for it."""

import subprocess
import sys
from pathlib import Path

from werkbank.ai.keys import ModelKeys
from werkbank.providers.catalog import build_catalog

SHARED = Path(__file__).parents[3] / "shared"
KEYS = {
    "anthropicApiKey": "a",
    "openaiApiKey": "o",
    "privateLlmUrl": "http://127.0.0.1:1/v1",
    "privateEmbeddingsUrl": "http://127.0.0.1:2/v1",
}


def test_every_model_has_its_provider() -> None:
    catalog = build_catalog(ModelKeys.model_validate(KEYS))
    for model in catalog.models:
        providers = catalog.embedding_providers if model.max_output_tokens == 0 else catalog.chat_providers
        assert model.provider in providers


def test_without_keys_the_internal_provider_is_alone() -> None:
    catalog = build_catalog(ModelKeys())
    assert set(catalog.chat_providers) == set(catalog.embedding_providers) == {"internal"}


def test_no_sdk_is_loaded_before_the_first_call() -> None:
    code = f"""
import sys
from werkbank.ai.keys import ModelKeys
from werkbank.providers.catalog import build_catalog
build_catalog(ModelKeys.model_validate({KEYS!r}))
print(sorted({{"anthropic", "openai", "httpx", "httpx2", "snowballstemmer"}} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=SHARED)
    assert run.stdout.strip() == "[]"
