"""AI-03: the registry is data that holds together."""

import pytest

from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Capability
from werkbank.ai.operations import Operation
from werkbank.ai.registry import available_models, listed_models
from werkbank.ai.selector import ModelWish, select_models

ALL_KEYS = {
    "anthropicApiKey": "a",
    "openaiApiKey": "o",
    "mistralApiKey": "m",
    "bedrockRegion": "us-west-2",
    "perplexityApiKey": "p",
    "tavilyApiKey": "t",
    "privateLlmUrl": "http://127.0.0.1:1/v1",
    "privateLlmModel": "qwen",
    "privateEmbeddingsUrl": "http://127.0.0.1:2/v1",
    "privateEmbeddingsModel": "nano-e5",
}


def test_ids_are_unique_and_name_their_provider() -> None:
    same_name = {**ALL_KEYS, "privateEmbeddingsModel": ALL_KEYS["privateLlmModel"]}
    models = available_models(ModelKeys.model_validate(same_name))
    assert len({model.id for model in models}) == len(models)
    assert all(model.id.startswith(f"{model.provider}/") and model.id.endswith(model.name) for model in models)


def test_every_model_has_a_price_with_date_and_source() -> None:
    for model in listed_models():
        assert model.price is not None
        assert model.price.source


def test_without_keys_only_the_internal_models_and_the_page_reader_are_there_and_free() -> None:
    models = available_models(ModelKeys())
    assert {model.provider for model in models} == {"internal", "reader"}
    assert all(model.price is not None and model.price.input == model.price.output == 0 for model in models)
    assert [model.embedding_dimension for model in models if Operation.EMBEDDING in model.ratings] == [1536]


def test_private_servers_are_described_by_the_secret() -> None:
    keys = ModelKeys.model_validate({**ALL_KEYS, "privateLlmContextWindow": 8192, "privateEmbeddingsDimension": 384})
    models = {model.id: model for model in available_models(keys)}
    assert models["private/qwen"].context_window == 8192
    assert models["private/qwen"].can(Capability.TOOLS)
    toolless = available_models(ModelKeys.model_validate({**ALL_KEYS, "privateLlmTools": "false"}))
    assert [model.provider for model in toolless if "agent" in model.ratings and not model.can(Capability.TOOLS)] == [
        "private"
    ]
    assert models["private/embedding/nano-e5"].embedding_dimension == 384
    assert models["private/embedding/nano-e5"].query_prefix == "query: "


def test_a_private_model_sees_only_if_the_secret_says_so() -> None:
    seeing = {**ALL_KEYS, "privateLlmVision": "true"}  # as a string, the way an environment variable gives it
    for keys, sees in ((ALL_KEYS, False), (seeing, True)):
        (model,) = (model for model in available_models(ModelKeys.model_validate(keys)) if model.name == "qwen")
        assert model.can(Capability.VISION) is sees
        assert (Operation.IMAGE_ANALYSE in model.ratings) is sees


def test_whoever_analyses_images_sees() -> None:
    models = available_models(ModelKeys.model_validate({**ALL_KEYS, "privateLlmVision": True}))
    assert all(model.can(Capability.VISION) for model in models if Operation.IMAGE_ANALYSE in model.ratings)


def test_a_model_of_some_regions_is_offered_there_alone() -> None:
    def made_by(region: str) -> set[str]:
        models = available_models(ModelKeys.model_validate({"bedrockRegion": region}))
        return {model.provider for model in models if Operation.IMAGE_GENERATE in model.ratings}

    assert made_by("us-west-2") == {"bedrock"}
    assert made_by("eu-central-1") == set()


# Neutralization never leaves the house (NE-06).
INTERNAL_ONLY = {Operation.NEUTRALIZATION_TEXT, Operation.NEUTRALIZATION_IMAGE}


@pytest.mark.parametrize("operation", sorted(set(Operation) - INTERNAL_ONLY))
def test_every_operation_has_candidates_of_several_providers(operation: Operation) -> None:
    # AI-02, AI-03
    models = available_models(ModelKeys.model_validate(ALL_KEYS))
    candidates = select_models(models, ModelWish(operation))
    assert len({model.provider for model in candidates if not model.is_internal}) >= 2


@pytest.mark.parametrize("operation", sorted(INTERNAL_ONLY))
def test_neutralization_has_no_external_candidates(operation: Operation) -> None:
    models = available_models(ModelKeys.model_validate(ALL_KEYS))
    assert all(model.is_internal for model in models if operation in model.ratings)


@pytest.mark.parametrize(
    ("keys", "provider"),
    [
        ({"mistralApiKey": "m"}, "mistral"),
        ({"bedrockRegion": "eu-central-1"}, "bedrock"),
        ({"perplexityApiKey": "p"}, "perplexity"),
        ({"tavilyApiKey": "t"}, "tavily"),
    ],
)
def test_a_key_opens_its_provider_alone(keys: dict[str, str], provider: str) -> None:
    models = available_models(ModelKeys.model_validate(keys))
    assert {model.provider for model in models} == {"internal", "reader", provider}


def test_keys_do_not_show_in_representations() -> None:
    names = (
        "anthropicApiKey openaiApiKey mistralApiKey bedrockSecretAccessKey bedrockSessionToken perplexityApiKey "
        "tavilyApiKey privateLlmApiKey privateEmbeddingsApiKey"
    )
    keys = ModelKeys.model_validate({**dict.fromkeys(names.split(), "geheim"), "unknownKey": 1})
    assert keys.bedrock_secret_access_key is not None
    assert "geheim" not in repr(keys)
