"""The catalog offers what the keys open, and loads no SDK for it."""

import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from werkbank.ai.keys import ModelKeys
from werkbank.ai.operations import Operation
from werkbank.providers.catalog import build_catalog

SHARED = Path(__file__).parents[3] / "shared"
KEYS = {
    "anthropicApiKey": "a",
    "openaiApiKey": "o",
    "mistralApiKey": "m",
    "bedrockRegion": "us-west-2",
    "perplexityApiKey": "p",
    "tavilyApiKey": "t",
    "privateLlmUrl": "http://127.0.0.1:1/v1",
    "privateEmbeddingsUrl": "http://127.0.0.1:2/v1",
}


def test_every_model_has_its_provider() -> None:
    catalog = build_catalog(ModelKeys.model_validate(KEYS))
    providers: dict[Operation, Collection[str]] = {
        Operation.EMBEDDING: catalog.providers.embedding,
        Operation.WEB_SEARCH: catalog.providers.search,
        Operation.WEB_CRAWL: catalog.providers.extraction,
        Operation.IMAGE_GENERATE: catalog.providers.image,
        Operation.TEXT_TO_SPEECH: catalog.providers.speech,
        Operation.SPEECH_TO_TEXT: catalog.providers.transcription,
    }
    for model in catalog.models:
        for operation in model.ratings:
            assert model.provider in providers.get(operation, catalog.providers.chat)


def test_without_keys_the_internal_provider_is_alone() -> None:
    catalog = build_catalog(ModelKeys())
    assert set(catalog.providers.chat) == set(catalog.providers.embedding) == {"internal"}
    assert not catalog.providers.search
    assert set(catalog.providers.extraction) == {"reader"}
    providers = catalog.providers
    assert not [*providers.image, *providers.speech, *providers.transcription]


def test_no_sdk_is_loaded_before_the_first_call() -> None:
    code = f"""
import sys
from werkbank.ai.keys import ModelKeys
from werkbank.providers.catalog import build_catalog
build_catalog(ModelKeys.model_validate({KEYS!r}))
print(sorted({{"anthropic", "boto3", "openai", "httpx", "httpx2", "snowballstemmer"}} & set(sys.modules)))
"""  # botocore comes with the logs, which every function has
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=SHARED)
    assert run.stdout.strip() == "[]"
