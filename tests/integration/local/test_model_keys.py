"""What this machine's environment says of models reaches the functions under the names that they read (DP-02)."""

from infra.local.model_keys import MODEL_KEYS
from werkbank.ai.keys import ModelKeys
from werkbank.ai.registry import available_models


def test_every_variable_is_one_of_the_secrets_names() -> None:
    names = {field.alias or name for name, field in ModelKeys.model_fields.items()}
    assert set(MODEL_KEYS.values()) <= names


def test_numbers_may_come_as_text() -> None:
    keys = ModelKeys.model_validate({"privateLlmUrl": "http://127.0.0.1:1/v1", "privateLlmContextWindow": "131072"})
    (model,) = (model for model in available_models(keys) if model.id.startswith("private/"))
    assert model.context_window == 131_072
