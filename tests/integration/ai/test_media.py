"""Pictures, speech and pages through the gate and a real ledger (AI-05, AI-08, AG-06, AG-11)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

import pytest

from tests.bench.wire_server import WireServer, running
from tests.integration.agent.harness import Harness
from tests.integration.agent.test_faults import WEAKER
from tests.integration.agent.test_rights import allow
from tests.integration.conftest import new_member
from tests.scripted_model import SCRIPTED, ScriptedModel
from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Capability, Model
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import (
    ChatRequest,
    Extraction,
    GeneratedImage,
    ImageRequest,
    Providers,
    SearchAnswer,
    Speech,
    SpeechRequest,
    Transcript,
)
from werkbank.ai.registry import available_models
from werkbank.ai.selector import ModelChoice
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope, Purse
from werkbank.database.connection import Database
from werkbank.domain.billing import Charge, ChargeKind
from werkbank.domain.errors import (
    BudgetExceeded,
    InvalidInput,
    ModelNotFound,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    TooLarge,
    UserError,
)
from werkbank.domain.media import Audio, Image
from werkbank.domain.messages import Message, Usage
from werkbank.domain.principal import Principal
from werkbank.providers.catalog import build_catalog

APPLE = ImageRequest("Ein roter Apfel")
HELLO = SpeechRequest("Grüezi mitenand", "de")
RECORDING = Audio(data=bytes(7_500), mime_type="audio/webm")
MADE = GeneratedImage(Image(data=b"png", mime_type="image/png"), Usage(input_tokens=8, output_tokens=1_767))
SPOKEN = Speech(Audio(data=b"mp3", mime_type="audio/mpeg"), 15, Usage(input_tokens=5, output_tokens=40))
HEARD = Transcript("Grüezi", 3, "de")
READ = Extraction((), units=1)
FOUND = SearchAnswer(())
MODELS = available_models(
    ModelKeys.model_validate(
        {
            "openaiApiKey": "o",
            "mistralApiKey": "m",
            "bedrockRegion": "us-west-2",
            "tavilyApiKey": "t",
            "perplexityApiKey": "p",
        }
    )
)
_Answer = TypeVar("_Answer")


@dataclass
class Scripted:
    """Every kind of provider at once: raises its faults first, then answers. `asked` are model ids and seconds."""

    faults: list[ProviderError] = field(default_factory=list)
    asked: list[tuple[str, float]] = field(default_factory=list)
    before_answering: Callable[[], None] = lambda: None

    def generate_image(self, model: Model, request: ImageRequest, timeout_seconds: float) -> GeneratedImage:
        return self._answer(model, timeout_seconds, MADE)

    def speak(self, model: Model, request: SpeechRequest, timeout_seconds: float) -> Speech:
        return self._answer(model, timeout_seconds, SPOKEN)

    def transcribe(self, model: Model, audio: Audio, timeout_seconds: float) -> Transcript:
        return self._answer(model, timeout_seconds, HEARD)

    def extract(self, model: Model, urls: object, timeout_seconds: float) -> Extraction:
        return self._answer(model, timeout_seconds, READ)

    def search(self, model: Model, query: str, language: str, timeout_seconds: float) -> SearchAnswer:
        return self._answer(model, timeout_seconds, FOUND)

    def _answer(self, model: Model, timeout_seconds: float, answer: _Answer) -> _Answer:
        self.asked.append((model.id, timeout_seconds))
        self.before_answering()
        if self.faults:
            raise self.faults.pop(0)
        return answer

    @property
    def models(self) -> list[str]:
        return [model for model, _ in self.asked]


class Gate:
    """The gate around scripted providers, and a run to pay from."""

    def __init__(
        self,
        database: Database,
        principal: Principal,
        faults: list[ProviderError] | None = None,
        models: tuple[Model, ...] = MODELS,
        cap: str | None = None,
    ) -> None:
        self.database, self.principal = database, principal
        self.scripted = Scripted(faults or [])
        self.pauses: list[float] = []
        self.now = 0.0
        everyone = {model.provider: self.scripted for model in MODELS}
        providers = Providers(
            image=dict(everyone),
            speech=dict(everyone),
            transcription=dict(everyone),
            extraction=dict(everyone),
            search=dict(everyone),
        )
        self.ai = AiService(models, providers, Purse(database), self._wait, lambda: self.now)
        self.run_id = Harness(database, []).start(principal, config={"maxCostCHF": cap} if cap else {}).run_id

    def _wait(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.pass_time(seconds)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def scope(self, kind: ChargeKind = "image") -> CallScope:
        return CallScope(self.principal, kind, run_id=self.run_id)

    def charges(self) -> tuple[Charge, ...]:
        with self.database.session(self.principal) as session:
            return session.ledger.charges(self.run_id)

    def statuses(self) -> list[tuple[str, str]]:
        return [(charge.model, charge.status) for charge in self.charges()]


@pytest.fixture
def gate(database: Database, principal: Principal) -> Gate:
    return Gate(database, principal)


Work = Callable[[Gate], object]
WORKS: dict[str, tuple[Work, str, str, Decimal]] = {
    # work, the kind it is booked as, the model asked first, what it costs at 0.81 CHF the dollar
    "image": (
        lambda gate: gate.ai.image(gate.scope("image"), APPLE, 60),
        "image",
        "openai/gpt-image-2.6-sunburst",
        Decimal("0.042971"),  # 8 tokens at 5 USD a million, 1,767 at 30
    ),
    "speak": (
        lambda gate: gate.ai.speak(gate.scope("speech"), HELLO, 60),
        "speech",
        "mistral/voxtral-mini-tts-3-0",
        Decimal("0.000158"),  # 15 characters at 13 USD a million
    ),
    "transcribe": (
        lambda gate: gate.ai.transcribe(gate.scope("speech"), RECORDING, 60),
        "speech",
        "openai/gpt-transcribe",
        Decimal("0.000182"),  # 3 seconds at 0.0045 USD a minute
    ),
    "pages": (
        lambda gate: gate.ai.read_pages(gate.scope("search"), ["https://a.ch"], 60),
        "search",
        "tavily/extract",
        Decimal("0.00648"),  # one credit
    ),
    "search": (
        lambda gate: gate.ai.search(gate.scope("search"), "Wer regiert Bern?", "de", 60),
        "search",
        "perplexity/search",
        Decimal("0.00405"),  # a request at 0.005 USD
    ),
}


@pytest.mark.parametrize("name", WORKS)
def test_a_call_is_reserved_and_settled_under_its_kind(name: str, gate: Gate) -> None:
    work, kind, model, cost = WORKS[name]
    work(gate)
    (charge,) = gate.charges()
    assert (charge.kind, charge.model, charge.status) == (kind, model, "settled")
    assert charge.cost_chf == cost
    assert charge.reserved_chf >= cost
    # APIs behind tools share the time out; pages are read by our own reader otherwise, searches made by Tavily.
    assert gate.scripted.asked == [(model, 30 if kind == "search" else 60)]


@pytest.mark.parametrize("name", WORKS)
def test_a_call_that_is_not_affordable_is_not_made(name: str, database: Database, principal: Principal) -> None:
    gate = Gate(database, principal, cap="0.0001")
    with pytest.raises(BudgetExceeded):
        WORKS[name][0](gate)
    assert gate.scripted.asked == []
    assert gate.charges() == ()


def _unpriced() -> tuple[Model, ...]:
    return tuple(model.model_copy(update={"price": None}) for model in MODELS)


@pytest.mark.parametrize("name", WORKS)
def test_an_unknown_price_is_refused_under_a_budget(name: str, database: Database, principal: Principal) -> None:
    gate = Gate(database, principal, models=_unpriced(), cap="5")
    with pytest.raises(BudgetExceeded, match="price"):
        WORKS[name][0](gate)
    assert gate.scripted.asked == []
    free = Gate(database, principal, models=_unpriced())
    WORKS[name][0](free)
    assert [charge.cost_chf for charge in free.charges()] == [0]


def test_an_unknown_price_is_refused_under_the_mandates_limit_where_there_is_no_run(
    database: Database, limited_principal: Principal
) -> None:
    gate = Gate(database, limited_principal, models=_unpriced())
    with pytest.raises(BudgetExceeded, match="price"):
        gate.ai.image(CallScope(limited_principal, "image"), APPLE, 60)


def test_a_fault_that_may_pass_is_waited_for_once_then_the_next_provider_answers(
    database: Database, principal: Principal
) -> None:
    # AG-11; the stand-ins alternate between providers
    gate = Gate(database, principal, [RateLimited("slow down", 7), ProviderUnavailable("gone")])
    gate.ai.image(gate.scope(), APPLE, 60)
    first, second = "openai/gpt-image-2.6-sunburst", "bedrock/stability.stable-image-ultra-v1:1"
    assert gate.scripted.asked == [(first, 60), (first, 53), (second, 53)]
    assert gate.pauses == [7]
    assert gate.statuses() == [(first, "released"), (first, "released"), (second, "settled")]


def test_a_model_that_is_no_more_is_replaced_at_once(database: Database, principal: Principal) -> None:
    gate = Gate(database, principal, [ModelNotFound("gone"), ModelNotFound("gone")])
    with pytest.raises(ModelNotFound):  # of the last candidate, so all were asked
        gate.ai.speak(gate.scope("speech"), HELLO, 60)
    assert gate.scripted.models == ["mistral/voxtral-mini-tts-3-0", "openai/gpt-4o-mini-tts"]
    assert gate.pauses == []


@pytest.mark.parametrize("fault", [RequestRejected("the filter objects"), ProviderRefused("no credit")])
def test_what_only_the_user_can_mend_comes_up_at_once(
    fault: ProviderError, database: Database, principal: Principal
) -> None:
    gate = Gate(database, principal, [fault])
    with pytest.raises(type(fault)):
        gate.ai.image(gate.scope(), APPLE, 60)
    assert len(gate.scripted.asked) == 1
    assert [status for _, status in gate.statuses()] == ["released"]


def test_no_wait_outlives_the_call(database: Database, principal: Principal) -> None:
    gate = Gate(database, principal, [RateLimited("slow down", 30)])
    gate.ai.image(gate.scope(), APPLE, 20)
    assert gate.pauses == []
    assert gate.scripted.models == ["openai/gpt-image-2.6-sunburst", "bedrock/stability.stable-image-ultra-v1:1"]


def test_what_is_given_up_while_the_provider_works_is_paid_for_and_nobody_else_is_asked(
    database: Database, principal: Principal
) -> None:
    gate = Gate(database, principal, [ProviderUnavailable("too late")])
    gate.scripted.before_answering = lambda: gate.pass_time(60)
    with pytest.raises(ProviderUnavailable):
        gate.ai.speak(gate.scope("speech"), HELLO, 60)
    (charge,) = gate.charges()
    assert (charge.status, charge.cost_chf) == ("settled", charge.reserved_chf)


def test_pages_are_read_by_our_own_reader_where_the_service_fails(database: Database, principal: Principal) -> None:
    gate = Gate(database, principal, [ProviderRefused("no credit")])
    gate.ai.read_pages(gate.scope("search"), ["https://a.ch"], 60)
    assert gate.scripted.models == ["tavily/extract", "reader/pages"]


PERPLEXITY, TAVILY = "perplexity/search", "tavily/search"
ONE_SEARCH = tuple(model for model in MODELS if model.id == PERPLEXITY)


def search(gate: Gate, seconds: float = 15) -> None:
    gate.ai.search(gate.scope("search"), "Wer regiert Bern?", "de", seconds)


def test_search_that_hangs_leaves_the_next_provider_its_part_of_the_time(
    database: Database, principal: Principal
) -> None:
    # WS-04, AI-03
    gate = Gate(database, principal, [ProviderUnavailable("did not answer in time")])
    waits = [7.5, 0.0]
    gate.scripted.before_answering = lambda: gate.pass_time(waits.pop(0))
    search(gate)
    assert gate.scripted.asked == [(PERPLEXITY, 7.5), (TAVILY, 7.5)]
    # It may bill what nobody waited for.
    assert gate.statuses() == [(PERPLEXITY, "settled"), (TAVILY, "settled")]


def test_only_search_provider_is_asked_three_times_with_waits_that_double(
    database: Database, principal: Principal
) -> None:
    # AG-11
    gate = Gate(database, principal, [ProviderUnavailable("x"), RateLimited("x")], models=ONE_SEARCH)
    search(gate)
    assert gate.scripted.asked == [(PERPLEXITY, 15), (PERPLEXITY, 14), (PERPLEXITY, 12)]
    assert gate.pauses == [1, 2]
    assert [status for _, status in gate.statuses()] == ["released", "released", "settled"]
    failing = Gate(database, principal, [ProviderUnavailable(f"{n}") for n in range(9)], models=ONE_SEARCH)
    with pytest.raises(ProviderUnavailable, match="2"):
        search(failing)
    assert failing.scripted.models == [PERPLEXITY] * 3


def test_next_search_provider_is_asked_at_once_and_only_who_may_recover_again(
    database: Database, principal: Principal
) -> None:
    # AG-11
    gate = Gate(database, principal, [ProviderUnavailable("x"), ProviderRefused("no credit")])
    search(gate)
    assert gate.scripted.models == [PERPLEXITY, TAVILY, PERPLEXITY]
    assert gate.pauses == [1]


def test_search_waits_as_long_as_it_is_asked_to_and_never_beyond_its_time(
    database: Database, principal: Principal
) -> None:
    # AG-11
    gate = Gate(database, principal, [RateLimited("x", 5)], models=ONE_SEARCH)
    search(gate)
    assert gate.pauses == [5]
    late = Gate(database, principal, [RateLimited("x", 20)], models=ONE_SEARCH)
    with pytest.raises(RateLimited):
        search(late)
    assert late.pauses == []


@pytest.mark.parametrize(
    ("name", "second"),
    [("image", "bedrock"), ("speak", "openai"), ("transcribe", "mistral"), ("pages", "reader"), ("search", "tavily")],
)
def test_only_allowed_providers_get_any_kind_of_call(name: str, second: str, database: Database) -> None:
    # AI-05, TB-04: the provider that would come first is not allowed, and then none is
    admin = new_member(database, None, "admin")
    gate = Gate(database, admin)
    allow(database, admin, "", [second])
    WORKS[name][0](gate)
    assert [model.split("/")[0] for model in gate.scripted.models] == [second]
    allow(database, admin, "", ["anthropic"])
    with pytest.raises(UserError, match="No available model"):
        WORKS[name][0](gate)
    assert len(gate.scripted.models) == 1


def test_a_text_too_long_to_be_read_aloud_is_refused_in_words(gate: Gate) -> None:
    with pytest.raises(TooLarge):
        gate.ai.speak(gate.scope("speech"), SpeechRequest("ä" * 4_000, "de"), 60)


def test_pictures_are_shown_to_models_that_see(database: Database, principal: Principal) -> None:
    # AI-02 imageAnalyse
    seeing = WEAKER.model_copy(update={"capabilities": WEAKER.capabilities | {Capability.VISION}})
    answers = ScriptedModel([["An apple."]])
    harness = Harness(database, [], stand_in=(seeing, answers))
    question = Message(role="user", content="What is it?", images=(Image(data=b"png", mime_type="image/png"),))

    def ask(fixed_model: str | None) -> str:
        scope = CallScope(principal, "agentRound")
        answer = harness.ai.chat(
            scope,
            ChatRequest((question,), 100),
            Operation.AGENT,
            timeout_seconds=10,
            on_text=lambda _: None,
            choice=ModelChoice(fixed=fixed_model),
        )
        return answer.model.id

    # The model that would come first is blind.
    assert ask(None) == seeing.id
    assert answers.requests[0].messages[0].images == question.images
    with pytest.raises(InvalidInput, match="not available"):
        ask(SCRIPTED.id)
    assert harness.model.requests == []


@pytest.fixture
def server() -> Iterator[WireServer]:
    with running() as wire_server:
        yield wire_server


def test_through_the_real_adapter(server: WireServer, database: Database, principal: Principal) -> None:
    catalog = build_catalog(ModelKeys.model_validate({"openaiApiKey": "o", "openaiBaseUrl": server.url}))
    ai = AiService(catalog.models, catalog.providers, Purse(database))
    server.reply([b'{"text":"Hoi","usage":{"type":"duration","seconds":60}}'], content_type="application/json")
    assert ai.transcribe(CallScope(principal, "speech"), RECORDING, 10).text == "Hoi"
    with database.session(principal) as session:
        (total,) = session.ledger.by_kind()
    assert (total.kind, total.calls, total.cost_chf) == ("speech", 1, Decimal("0.003645"))
