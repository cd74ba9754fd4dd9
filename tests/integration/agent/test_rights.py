"""Provider and model rights of a mandate and its roles (AI-05, TB-04)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from tests.integration.agent.harness import Harness
from tests.integration.agent.test_faults import WEAKER
from tests.integration.conftest import new_member
from tests.integration.knowledge.library import document_of, new_file
from tests.scripted_model import SCRIPTED, ScriptedModel
from werkbank.ai.model import Model
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import Embeddings, Providers
from werkbank.ai.registry import listed_models
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope, Purse
from werkbank.database.connection import Database
from werkbank.domain.errors import Forbidden, InvalidInput, UserError
from werkbank.domain.principal import Principal
from werkbank.domain.rights import ModelRight
from werkbank.knowledge.model import FoundPassage
from werkbank.knowledge.retrieval import search
from werkbank.knowledge.run_knowledge import gate_embedder
from werkbank.providers.internal.embedding import HashingEmbedder

INTERNAL, OPENAI, MISTRAL = "internal/hashing-1536", "openai/text-embedding-3-small", "mistral/mistral-embed"


def allow(
    database: Database, admin: Principal, role: str, providers: list[str] | None, models: list[str] | None = None
) -> None:
    with database.session(admin) as session:
        session.connection.execute(
            "INSERT INTO model_right (mandate_id, role, providers, models) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (mandate_id, role) DO UPDATE SET providers = excluded.providers, models = excluded.models",
            (admin.mandate_id, role, providers, models),
        )


def test_only_allowed_providers_are_asked(database: Database) -> None:
    admin = new_member(database, None, "admin")
    member = new_member(database, admin.mandate_id)
    allow(database, admin, "", ["anthropic"])
    allowed = ScriptedModel([["Allowed."]])
    harness = Harness(database, [], stand_in=(WEAKER, allowed))
    ref = harness.ask(member)
    assert harness.events(ref)[-1].data["status"] == "completed"
    assert (len(harness.model.requests), len(allowed.requests)) == (0, 1)


def test_role_adds_to_what_everyone_may_use(database: Database) -> None:
    admin = new_member(database, None, "admin")
    researcher = new_member(database, admin.mandate_id, "research")
    member = new_member(database, admin.mandate_id)
    allow(database, admin, "", ["anthropic"])
    allow(database, admin, "research", None)
    harness = Harness(database, [], stand_in=(WEAKER, ScriptedModel([])))

    def choices(principal: Principal) -> set[str]:
        return {model.id for model in harness.ai.models_for(CallScope(principal, "agentRound"), Operation.AGENT)}

    assert choices(member) == {WEAKER.id}
    assert choices(researcher) == {WEAKER.id, SCRIPTED.id}


def test_choosing_a_model_one_may_not_use_is_refused_in_words(database: Database) -> None:
    admin = new_member(database, None, "admin")
    allow(database, admin, "", ["anthropic"])
    harness = Harness(database, [], stand_in=(WEAKER, ScriptedModel([])))
    ref = harness.start(admin, config={"model": SCRIPTED.id})
    with pytest.raises(InvalidInput, match="not available"):
        harness.rounds.run(ref, 1, 30)


def test_nothing_allowed_is_said(database: Database) -> None:
    admin = new_member(database, None, "admin")
    allow(database, admin, "", [])
    harness = Harness(database, [])
    ref = harness.start(admin)
    with pytest.raises(UserError, match="No available model"):
        harness.rounds.run(ref, 1, 30)


def test_only_administrators_grant_rights(database: Database) -> None:
    member = new_member(database)
    with pytest.raises(Forbidden):
        allow(database, member, "", None)


@dataclass
class Embedders:
    """All providers of embeddings; `told` are the texts that each model's was told."""

    told: dict[str, list[str]] = field(default_factory=dict)

    def embed(self, model: Model, texts: Sequence[str], timeout_seconds: float) -> Iterator[Embeddings]:
        self.told.setdefault(model.id, []).extend(texts)
        return HashingEmbedder().embed(model, texts, timeout_seconds)

    def gate(self, database: Database) -> AiService:
        models = [model for model in listed_models() if Operation.EMBEDDING in model.ratings]
        providers = Providers(embedding={model.provider: self for model in models})
        return AiService(models, providers, Purse(database))


@pytest.mark.parametrize(
    ("rights", "chosen"),
    [
        ([], OPENAI),
        ([ModelRight()], OPENAI),
        ([ModelRight(providers=frozenset({"anthropic"}))], INTERNAL),
        ([ModelRight(providers=frozenset({"anthropic", "mistral"}))], MISTRAL),
        ([ModelRight(models=frozenset({MISTRAL}))], MISTRAL),
        ([ModelRight(providers=frozenset())], INTERNAL),
        # What a role may use besides must not part its members from the others.
        ([ModelRight(providers=frozenset({"anthropic"})), ModelRight(role="research")], INTERNAL),
    ],
)
def test_texts_are_embedded_by_the_best_that_the_mandate_allows_everyone(
    database: Database, rights: list[ModelRight], chosen: str
) -> None:
    # AI-05, KS-07
    admin = new_member(database, None, "admin")
    for right in rights:
        providers, models = (None if names is None else sorted(names) for names in (right.providers, right.models))
        allow(database, admin, right.role, providers, models)
    embedders = Embedders()
    for person in (admin, new_member(database, admin.mandate_id, "research"), new_member(database, admin.mandate_id)):
        scope = CallScope(person, "embedding")
        assert embedders.gate(database).embed(scope, ["Miete"], "passage", 20).model.id == chosen
    assert list(embedders.told) == [chosen]


def test_words_find_what_was_embedded_before_the_rights_changed(database: Database) -> None:
    # KS-07, KS-08: nothing goes to the earlier provider any more, and no vectors of two models are compared
    admin = new_member(database, None, "admin")
    embedders = Embedders()
    embed = gate_embedder(embedders.gate(database), CallScope(admin, "embedding"))
    texts = ("Die Miete beträgt CHF 1'450.", "Der Garten wird im Frühling bepflanzt.")
    file = new_file(admin)
    document, chunks = document_of(file.file_name, *texts)

    def found() -> tuple[FoundPassage, ...]:
        return search(database, embed, admin, "Wie hoch ist die Miete?")

    with database.session(admin) as session:
        session.files.add(file)
        session.knowledge.replace_index(file.id, document, chunks, embed(texts, "passage").model_id)
    before = found()
    allow(database, admin, "", ["anthropic"])
    assert found()[0].text == before[0].text == texts[0]
    assert embedders.told == {OPENAI: [*texts, "Wie hoch ist die Miete?"], INTERNAL: ["Wie hoch ist die Miete?"]}
