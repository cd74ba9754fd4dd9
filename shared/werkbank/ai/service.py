"""The gate: the only way to a model (AI-05).

A call is matched to models, priced, reserved in the ledger, made, and settled with its real usage. A fault that may
pass is waited for once, then the next candidate takes over – but only while nothing of the answer was shown (AG-11).
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from typing import Literal, TypeVar

from werkbank.ai.answer import Answer, Vectors
from werkbank.ai.assembly import AnswerAssembly
from werkbank.ai.characters import whole_characters
from werkbank.ai.last_good import LastGood, StandIn
from werkbank.ai.model import Capability, Model
from werkbank.ai.operations import Operation
from werkbank.ai.pricing import cost_chf, reservation_chf
from werkbank.ai.protocols import (
    AssembledAnswer,
    ChatProvider,
    ChatRequest,
    Extraction,
    GeneratedImage,
    ImageRequest,
    Providers,
    SearchAnswer,
    Speech,
    SpeechRequest,
    TextDelta,
    Transcript,
)
from werkbank.ai.recovery import Recovery, may_fall_back, wait_before_retry
from werkbank.ai.selector import BEST_MODEL, ModelChoice, ModelWish, select_models
from werkbank.ai.text_protocol import TextProtocol
from werkbank.ai.tokens import (
    AUDIO_TOKENS_PER_CHARACTER,
    estimate_prompt_tokens,
    estimate_seconds,
    estimate_text_tokens,
)
from werkbank.ai.turn import Turn, fit, wish_of
from werkbank.ai.whole_calls import Billed, Most, WholeCall, WholeCalls
from werkbank.billing.purse import CallScope, Payment, Purse
from werkbank.domain.errors import (
    AnswerDeclined,
    DeadlineTooNear,
    EmptyAnswer,
    ProviderError,
    RetryableProviderError,
    ThinkingRefused,
    ToolsUnsupported,
    UserError,
)
from werkbank.domain.ids import derived_id
from werkbank.domain.media import Audio
from werkbank.domain.messages import Usage
from werkbank.domain.rights import ModelRight, for_everyone, may_use
from werkbank.observability import count

_LEAST_SECONDS = 1.0
# What any model reads that is worth being asked, in tokens.
_LEAST_WINDOW = 32_768
# Another try with less time than this would only fail again.
_LEAST_SECONDS_TO_TRY_AGAIN = 5.0
# How long a model is taken to have no tools once it has refused them: whoever runs its server may mend that.
_TOOLLESS_SECONDS = 900.0
_Whole = TypeVar("_Whole", bound=Billed)


class AiService:
    """Calls models on somebody's behalf.

    `agent_model` is the id of the one that answers whoever has chosen none. `has_earlier_keys` tells that the secret
    with the keys cannot be read as it is now.
    """

    def __init__(
        self,
        models: Sequence[Model],
        providers: Providers,
        purse: Purse,
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        last_good: LastGood | None = None,
        agent_model: str | None = None,
        has_earlier_keys: bool = False,
    ) -> None:
        self._models = models
        self._providers = providers
        self._purse = purse
        self._whole_calls = WholeCalls(purse, pause, clock)
        self._pause = pause
        self._clock = clock
        self._last_good = last_good
        self._agent_model = agent_model
        self.has_earlier_keys = has_earlier_keys
        self._without_tools: dict[str, float] = {}

    def chat(
        self,
        scope: CallScope,
        request: ChatRequest,
        operation: Operation,
        *,
        timeout_seconds: float,
        on_text: Callable[[str], None],
        choice: ModelChoice = BEST_MODEL,
    ) -> Answer:
        """Answer a conversation; `on_text` gets the text as it comes, and aborts the call by raising.

        Raises:
            BudgetExceeded: the cheapest useful call costs more than is left.
            UserError: no available model fits. ProviderError: every candidate failed; the last one's error, or
            DeadlineTooNear where another try was left out for lack of time.
        """
        preflight = self._purse.preflight(scope)
        ends_at = self._clock() + timeout_seconds
        if scope.workflow_id:
            request = replace(request, conversation=derived_id("conversation", scope.workflow_id))
        turn = Turn(scope, preflight.remaining_chf, request, estimate_prompt_tokens(request), ends_at, on_text)
        wish = wish_of(turn, operation, self._configured(operation, choice))
        try:
            if answer_of_stand_in := self._by_the_same_stand_in(turn, wish, preflight.rights):
                return answer_of_stand_in
            candidates = select_models(self._allowed(preflight.rights), wish)
            answer = self._recovery(turn).first_answer(candidates, lambda model: self._answer(turn, model))
        except (UserError, ProviderError) as error:
            if isinstance(error, RetryableProviderError) and turn.is_short_of_time and not turn.has_shown_text:
                raise DeadlineTooNear(str(error)) from error
            stood_in = self._by_last_good(turn, wish, preflight.rights, error)
            if stood_in is None:
                raise
            return stood_in
        if self._last_good:
            self._last_good.keep(scope.principal, operation, answer.model)
        return answer

    def _configured(self, operation: Operation, choice: ModelChoice) -> ModelChoice:
        if choice.fixed is None and operation is Operation.AGENT:
            return replace(choice, fixed=self._agent_model)
        return choice

    def _recovery(self, turn: Turn) -> Recovery:
        """Return how a conversation recovers: as long as nobody has seen text and time is left."""

        def wait_seconds(error: ProviderError) -> float | None:
            wait = wait_before_retry(error)
            if turn.has_shown_text or wait is None or not self._may_try_again(turn, wait):
                return None
            return wait

        def may_ask_another(error: ProviderError) -> bool:
            return not turn.has_shown_text and may_fall_back(error) and self._may_try_again(turn, 0)

        return Recovery(wait_seconds, may_ask_another, self._pause)

    def _may_try_again(self, turn: Turn, wait_seconds: float) -> bool:
        """Tell whether a try after this wait has time enough; note it if not."""
        has_time = self._clock() + wait_seconds + _LEAST_SECONDS_TO_TRY_AGAIN < turn.ends_at
        turn.is_short_of_time |= not has_time
        return has_time

    def _by_last_good(
        self, turn: Turn, wish: ModelWish, rights: Sequence[ModelRight], error: Exception
    ) -> Answer | None:
        """Ask what answered last in place of a broken configuration; None where nothing may stand in (AG-13)."""
        if self._last_good is None or turn.has_shown_text:
            return None
        failed = turn.asked
        if failed is None and any(model.id == wish.choice.fixed for model in self._allowed(rights)):
            return None  # it is there, and only not made for this
        found = self._last_good.stand_in(
            turn.scope.principal, wish, lambda model: may_use(rights, model.provider, model.id), error, failed
        )
        if found is None:
            return None
        count("LastGoodFallback")
        wanted = wish.choice.fixed or (failed.id if failed else wish.operation.value)
        return replace(self._by_stand_in(turn, found), instead_of=wanted)

    def _by_the_same_stand_in(self, turn: Turn, wish: ModelWish, rights: Sequence[ModelRight]) -> Answer | None:
        """Ask what stood in at an earlier address in the run's latest round; None where nothing did or it fails now."""
        if self._last_good is None:
            return None
        found = self._last_good.standing_in(
            turn.scope.principal, wish, lambda model: may_use(rights, model.provider, model.id)
        )
        try:
            return self._by_stand_in(turn, found) if found else None
        except ProviderError as error:
            if turn.has_shown_text or not may_fall_back(error):
                raise
            return None

    def _by_stand_in(self, turn: Turn, found: StandIn) -> Answer:
        answer = self._recovery(turn).with_one_retry(
            found.model, lambda model: self._answer(turn, model, found.provider)
        )
        return replace(answer, answered_under=found.answered_under)

    def embed(
        self, scope: CallScope, texts: Sequence[str], purpose: Literal["query", "passage"], timeout_seconds: float
    ) -> Vectors:
        """Embed texts with the mandate's embedding model: vectors of different models are never mixed (KS-07).

        It is the best one among those that the mandate allows everyone, the built-in one where it allows none. What
        roles may use besides does not count: all members must find what any of them has stored. After a change of the
        rights earlier vectors are compared with nothing; words find their texts until they are indexed again.

        Raises BudgetExceeded, UserError, ProviderError.
        """
        preflight = self._purse.preflight(scope)
        allowed = self._allowed(for_everyone(preflight.rights))
        model = select_models(allowed, ModelWish(Operation.EMBEDDING))[0]
        prefix = model.query_prefix if purpose == "query" else model.passage_prefix
        prefixed = [prefix + text for text in texts]
        tokens = sum(estimate_text_tokens(text) for text in prefixed)
        amount = reservation_chf(preflight.remaining_chf, model, tokens, 0)
        with self._purse.pay(scope, model.id, amount) as payment:
            vectors: list[list[float]] = []
            used = Usage()
            for part in self._providers.embedding[model.provider].embed(model, prefixed, timeout_seconds):
                vectors.extend(part.vectors)
                used = Usage(input_tokens=used.input_tokens + part.usage.input_tokens)
                payment.settle(cost_chf(model, used) or Decimal(0), used)
        return Vectors(vectors, model)

    def search(self, scope: CallScope, query: str, language: str, timeout_seconds: float) -> SearchAnswer:
        """Search the web for a reader of a language (BCP 47) with the first provider that can.

        Raises BudgetExceeded, UserError, ProviderError.
        """

        def ask(model: Model, seconds: float) -> SearchAnswer:
            count("search_calls_total")
            return self._providers.search[model.provider].search(model, query, language, seconds)

        most = Most(estimate_text_tokens(query))
        return self._first(scope, ModelWish(Operation.WEB_SEARCH), most, timeout_seconds, ask, patient=False)

    def read_pages(self, scope: CallScope, urls: Sequence[str], timeout_seconds: float) -> Extraction:
        """Read pages of the web with the first provider that can. Raises BudgetExceeded, UserError, ProviderError."""
        return self._first(
            scope,
            ModelWish(Operation.WEB_CRAWL),
            Most(units=len(urls)),
            timeout_seconds,
            lambda model, seconds: self._providers.extraction[model.provider].extract(model, urls, seconds),
            patient=False,
        )

    def image(self, scope: CallScope, request: ImageRequest, timeout_seconds: float) -> GeneratedImage:
        """Make a picture. Raises BudgetExceeded, UserError, ProviderError."""
        tokens = estimate_text_tokens(request.prompt)
        return self._first(
            scope,
            ModelWish(Operation.IMAGE_GENERATE, tokens),
            Most(tokens),
            timeout_seconds,
            lambda model, seconds: self._providers.image[model.provider].generate_image(model, request, seconds),
        )

    def speak(self, scope: CallScope, request: SpeechRequest, timeout_seconds: float) -> Speech:
        """Read a text aloud. Raises BudgetExceeded, UserError, ProviderError."""
        tokens, characters = estimate_text_tokens(request.text), len(request.text)
        return self._first(
            scope,
            ModelWish(Operation.TEXT_TO_SPEECH, tokens),
            Most(tokens, characters * AUDIO_TOKENS_PER_CHARACTER, characters),
            timeout_seconds,
            lambda model, seconds: self._providers.speech[model.provider].speak(model, request, seconds),
        )

    def transcribe(self, scope: CallScope, audio: Audio, timeout_seconds: float) -> Transcript:
        """Write down what is said. Raises BudgetExceeded, UserError, ProviderError."""
        return self._first(
            scope,
            ModelWish(Operation.SPEECH_TO_TEXT),
            Most(units=estimate_seconds(audio)),
            timeout_seconds,
            lambda model, seconds: self._providers.transcription[model.provider].transcribe(model, audio, seconds),
        )

    def _first(
        self,
        scope: CallScope,
        wish: ModelWish,
        most: Most,
        timeout_seconds: float,
        ask: Callable[[Model, float], _Whole],
        *,
        patient: bool = True,
    ) -> _Whole:
        preflight = self._purse.preflight(scope)
        candidates = select_models(self._allowed(preflight.rights), wish)
        call = WholeCall(scope, preflight.remaining_chf, most, self._clock() + timeout_seconds, patient)
        return self._whole_calls.first_answer(call, candidates, ask)

    def can(self, operation: Operation) -> bool:
        """Tell whether any model is there for an operation, whoever may use it."""
        return any(operation in model.ratings for model in self._models)

    @property
    def models(self) -> tuple[Model, ...]:
        """Return all models that the keys open, whoever may use them."""
        return tuple(self._models)

    def is_offline(self) -> bool:
        """Tell whether only the built-in model is there to answer."""
        return select_models(self._models, ModelWish(Operation.AGENT))[0].is_internal

    def context_window(self, operation: Operation, choice: ModelChoice) -> int:
        """Return how many tokens the model that comes first reads, whoever may use it."""
        for possible in (self._configured(operation, choice), BEST_MODEL):
            try:
                return select_models(self._models, ModelWish(operation, choice=possible))[0].context_window
            except UserError:  # what stands in for a choice that is broken is not known yet
                continue
        return _LEAST_WINDOW

    def models_for(self, scope: CallScope, operation: Operation) -> tuple[Model, ...]:
        """Return the models that the scope's principal may choose among. Raises UserError when there is none."""
        return select_models(self._allowed(self._purse.preflight(scope).rights), ModelWish(operation))

    def _allowed(self, rights: Sequence[ModelRight]) -> tuple[Model, ...]:
        """Return the models that these rights cover; the internal one takes nothing out of the house."""
        return tuple(model for model in self._models if model.is_internal or may_use(rights, model.provider, model.id))

    def _answer(self, turn: Turn, model: Model, provider: ChatProvider | None = None) -> Answer:
        """Try a model; what it refuses is left out at once: tools (told in words, AI-07) or what it thought before."""
        try:
            return self._call(turn, model, provider)
        except ToolsUnsupported:
            self._without_tools[model.id] = self._clock() + _TOOLLESS_SECONDS
            count("tool_unsupported_total")
        except ThinkingRefused:
            turn.request = turn.request.without_thinking()
            count("ThinkingRefused")
        return self._call(turn, model, provider)

    def _call(self, turn: Turn, model: Model, provider: ChatProvider | None) -> Answer:
        """Try a model once, with its provider as configured unless another is given."""
        turn.asked = model
        fitted = fit(turn, model)
        amount = reservation_chf(turn.remaining_chf, model, turn.prompt_tokens, fitted.max_output_tokens)
        assembly = AnswerAssembly()
        with self._purse.pay(turn.scope, model.id, amount) as payment:
            try:
                serving = self._serving(model, turn.request, provider)
                timeout_seconds = max(turn.ends_at - self._clock(), _LEAST_SECONDS)
                # Closing the generator closes the connection: a stopped answer must not go on costing money.
                with closing(serving.stream_chat(model, fitted, timeout_seconds)) as deltas:
                    for delta in whole_characters(deltas):
                        assembly.add(delta)
                        if isinstance(delta, TextDelta):
                            turn.show(delta.text)
                assembled = assembly.finish()
            except BaseException:
                self._settle_aborted(payment, model, turn.prompt_tokens, assembly)
                raise
            cost = cost_chf(model, assembled.usage) or Decimal(0)
            payment.settle(cost, assembled.usage)
        _check_said(assembled, model)
        return Answer(assembled, model, cost)

    def _serving(self, model: Model, request: ChatRequest, provider: ChatProvider | None) -> ChatProvider:
        """Return who answers; a model that takes no tools is told of them in words (AG-02)."""
        provider = provider or self._providers.chat[model.provider]
        takes_tools = model.can(Capability.TOOLS) and self._without_tools.get(model.id, 0.0) <= self._clock()
        return provider if takes_tools or not request.tools else TextProtocol(provider)

    def _settle_aborted(self, payment: Payment, model: Model, prompt_tokens: int, assembly: AnswerAssembly) -> None:
        """Book what an answer that was cut off has used as far as it was seen: the provider sent no usage."""
        if not assembly.has_begun:
            return
        usage = Usage(input_tokens=prompt_tokens, output_tokens=estimate_text_tokens(assembly.text))
        payment.settle(min(cost_chf(model, usage) or Decimal(0), payment.reserved_chf), usage)


def _check_said(answer: AssembledAnswer, model: Model) -> None:
    """Raise EmptyAnswer or AnswerDeclined for an answer with neither words nor calls: nobody could go on from it."""
    if answer.message.content.strip() or answer.message.tool_calls:
        return
    match answer.stop_reason:
        case "refusal":
            raise AnswerDeclined(f"{model.label} declined to answer this. Ask in other words, or choose another model.")
        case "length":
            raise EmptyAnswer(
                f"{model.label} used up the longest answer it may give before it said anything. "
                "Ask for less at once, or choose another model."
            )
        case _:
            raise EmptyAnswer(f"{model.label} ended without an answer. Ask again, or choose another model.")
