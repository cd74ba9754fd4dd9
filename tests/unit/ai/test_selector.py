"""AI-03: the selector's order, its restrictions, and what it says when nothing fits."""

import pytest

from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Capability, ProviderName
from werkbank.ai.operations import Operation
from werkbank.ai.registry import available_models, listed_models
from werkbank.ai.selector import ModelChoice, ModelWish, select_models
from werkbank.domain.errors import InvalidInput, TooLarge, UserError

MODELS = available_models(
    ModelKeys.model_validate({"anthropicApiKey": "a", "openaiApiKey": "o", "privateLlmUrl": "http://x/v1"})
)

CLOUD: frozenset[ProviderName] = frozenset({"anthropic", "openai"})


def _ids(wish: ModelWish) -> list[str]:
    return [model.id for model in select_models(MODELS, wish)]


def test_the_best_comes_first_and_other_providers_stand_in_before_its_siblings() -> None:
    providers = [model.provider for model in select_models(MODELS, ModelWish(Operation.AGENT))]
    assert _ids(ModelWish(Operation.AGENT))[0] == "anthropic/claude-sonnet-5-5"
    assert len(set(providers[:3])) == 3


def test_the_internal_model_answers_only_where_no_other_is() -> None:
    assert "internal/extractive" not in _ids(ModelWish(Operation.AGENT))
    offline = available_models(ModelKeys())
    assert [model.id for model in select_models(offline, ModelWish(Operation.AGENT))] == ["internal/extractive"]


def test_restrictions() -> None:
    private = ModelWish(Operation.AGENT, allowed_providers=frozenset({"private"}))
    assert _ids(private) == ["private/default"]
    luna = ModelWish(Operation.AGENT, allowed_models=frozenset({"openai/gpt-6-luna"}))
    assert _ids(luna) == ["openai/gpt-6-luna"]
    assert _ids(ModelWish(Operation.AGENT, internal_only=True)) == ["internal/extractive"]
    seeing = ModelWish(Operation.AGENT, needs=frozenset({Capability.VISION}))
    assert "private/default" not in _ids(seeing)


def test_a_fixed_model_has_no_stand_in() -> None:
    assert _ids(ModelWish(Operation.AGENT, choice=ModelChoice("openai/gpt-6-luna"))) == ["openai/gpt-6-luna"]
    with pytest.raises(InvalidInput, match="gpt-1"):
        _ids(ModelWish(Operation.AGENT, choice=ModelChoice("openai/gpt-1")))


def test_a_simple_question_goes_to_a_cheap_model_and_a_complex_one_to_the_best() -> None:  # AG-18
    first = {
        complexity: _ids(
            ModelWish(Operation.AGENT, choice=ModelChoice(complexity=complexity), allowed_providers=CLOUD)
        )[0]
        for complexity in ("simple", "moderate", "complex", None)
    }
    assert first == {
        "simple": "anthropic/claude-haiku-5-5",
        "moderate": "anthropic/claude-sonnet-5-5",
        "complex": "anthropic/claude-sonnet-5-5",
        None: "anthropic/claude-sonnet-5-5",
    }


def test_cheap_is_not_enough_for_a_simple_question() -> (
    None
):  # AG-18: below the rating that does, the better comes first
    nova, haiku = "bedrock/amazon.nova-2-lite-v1:0", "bedrock/anthropic.claude-haiku-5-5"
    models = [model for model in listed_models() if model.id in {nova, haiku}]
    cheap = [m.model_copy(update={"price": None if m.id == haiku else m.price}) for m in models]
    order = select_models(cheap, ModelWish(Operation.AGENT, choice=ModelChoice(complexity="simple")))
    assert [model.id for model in order] == [haiku, nova]


def test_the_model_that_answers_a_run_goes_on_while_it_can() -> None:  # AG-18
    kept = ModelChoice(complexity="complex", kept="openai/gpt-6-luna")
    assert _ids(ModelWish(Operation.AGENT, choice=kept))[0] == "openai/gpt-6-luna"
    elsewhere = ModelWish(Operation.AGENT, choice=kept, allowed_providers=frozenset({"anthropic"}))
    assert _ids(elsewhere)[0] == "anthropic/claude-sonnet-5-5"
    fixed = ModelChoice("anthropic/claude-opus-5-5", "simple", kept="openai/gpt-6-luna")
    assert _ids(ModelWish(Operation.AGENT, choice=fixed)) == ["anthropic/claude-opus-5-5"]


def test_models_that_lack_what_is_preferred_come_last_but_are_not_left_out() -> None:
    # AG-02: a model without native tools does where there is no other, or where its user wants it
    keys = ModelKeys.model_validate({"openaiApiKey": "o", "privateLlmUrl": "http://x/v1", "privateLlmTools": False})
    models = available_models(keys)
    tools = frozenset({Capability.TOOLS})

    def ids(wish: ModelWish) -> list[str]:
        return [model.id for model in select_models(models, wish)]

    assert ids(ModelWish(Operation.AGENT))[1] == "private/default"
    preferring = ids(ModelWish(Operation.AGENT, prefers=tools))
    assert preferring[-1] == "private/default"
    assert len(preferring) > 2
    assert ids(ModelWish(Operation.AGENT, prefers=tools, choice=ModelChoice(fixed="private/default"))) == [
        "private/default"
    ]
    # the internal model takes tools, but stands in for a real one only where there is none
    only_private = frozenset({"private/default", "internal/extractive"})
    assert ids(ModelWish(Operation.AGENT, prefers=tools, allowed_models=only_private)) == ["private/default"]


def test_a_prompt_too_large_for_a_model_passes_it_by() -> None:
    assert "private/default" not in _ids(ModelWish(Operation.AGENT, prompt_tokens=32_000, output_tokens=1_000))
    with pytest.raises(TooLarge):
        _ids(ModelWish(Operation.AGENT, prompt_tokens=5_000_000))


def test_neutralization_never_leaves_the_house() -> None:  # NE-06
    with pytest.raises(UserError, match="internal"):
        _ids(ModelWish(Operation.NEUTRALIZATION_TEXT))


def test_no_candidate_says_what_to_do() -> None:
    with pytest.raises(UserError, match="webSearch"):
        _ids(ModelWish(Operation.WEB_SEARCH))
