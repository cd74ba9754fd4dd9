"""The gate: the only way to a model (AI-05).

A call is matched to models, priced, reserved in the ledger, made, and settled with its real usage. A fault that may
pass is waited for once, then the next candidate takes over – but only while nothing of the answer was shown (AG-11).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from werkbank.ai.assembly import AnswerAssembly
from werkbank.ai.model import Capability, Model, ProviderName
from werkbank.ai.operations import Operation
from werkbank.ai.pricing import cost_chf, estimate_chf
from werkbank.ai.protocols import (
    AssembledAnswer,
    ChatProvider,
    ChatRequest,
    EmbeddingProvider,
    SearchAnswer,
    SearchProvider,
    TextDelta,
)
from werkbank.ai.recovery import may_fall_back, wait_before_retry
from werkbank.ai.selector import ModelWish, select_models
from werkbank.ai.tokens import estimate_prompt_tokens, estimate_text_tokens
from werkbank.billing.purse import CallScope, Payment, Purse
from werkbank.domain.errors import BudgetExceeded, ProviderError, ToolsUnsupported
from werkbank.domain.messages import Usage
from werkbank.domain.rights import ModelRight, may_use
from werkbank.observability import count

# With fewer tokens than this an answer says nothing useful: better to stop and sum up.
_LEAST_OUTPUT_TOKENS = 256
_LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, the model that gave it and what it cost."""

    assembled: AssembledAnswer
    model: Model
    cost_chf: Decimal


@dataclass(frozen=True, slots=True)
class Vectors:
    """One vector per text, and the model they are comparable within (KS-07)."""

    vectors: list[list[float]]
    model: Model


@dataclass(slots=True)
class _Turn:
    """One conversation being answered, over all tries; `ends_at` is the clock's time when it must be over."""

    scope: CallScope
    remaining_chf: Decimal | None
    request: ChatRequest
    prompt_tokens: int
    ends_at: float
    on_text: Callable[[str], None]
    has_shown_text: bool = False

    def show(self, text: str) -> None:
        """Pass text on; from now on another try would contradict what somebody has read."""
        self.has_shown_text = True
        self.on_text(text)


class AiService:
    """Calls models on somebody's behalf."""

    def __init__(
        self,
        models: Sequence[Model],
        chat_providers: Mapping[ProviderName, ChatProvider],
        embedding_providers: Mapping[ProviderName, EmbeddingProvider],
        purse: Purse,
        search_providers: Mapping[ProviderName, SearchProvider] | None = None,
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._models = models
        self._chat_providers = chat_providers
        self._embedding_providers = embedding_providers
        self._purse = purse
        self._search_providers = search_providers or {}
        self._pause = pause
        self._clock = clock
        self._without_tools: set[str] = set()

    def chat(
        self,
        scope: CallScope,
        request: ChatRequest,
        operation: Operation,
        *,
        timeout_seconds: float,
        on_text: Callable[[str], None],
        fixed_model: str | None = None,
    ) -> Answer:
        """Answer a conversation; `on_text` gets the text as it comes, and aborts the call by raising.

        Raises:
            BudgetExceeded: the cheapest useful call costs more than is left.
            UserError: no available model fits. ProviderError: every candidate failed; the last one's error.
        """
        needs = frozenset({Capability.TOOLS}) if request.tools else frozenset[Capability]()
        preflight = self._purse.preflight(scope)
        ends_at = self._clock() + timeout_seconds
        turn = _Turn(scope, preflight.remaining_chf, request, estimate_prompt_tokens(request), ends_at, on_text)
        wish = ModelWish(operation, turn.prompt_tokens, _LEAST_OUTPUT_TOKENS, needs, fixed_model=fixed_model)
        *others, last = select_models(self._allowed(preflight.rights), wish)
        for model in others:
            try:
                return self._with_one_retry(turn, model)
            except ProviderError as error:
                if turn.has_shown_text or not may_fall_back(error):
                    raise
                count("ModelFallback")
        return self._with_one_retry(turn, last)

    def embed(
        self, scope: CallScope, texts: Sequence[str], purpose: Literal["query", "passage"], timeout_seconds: float
    ) -> Vectors:
        """Embed texts with the one embedding model in use: vectors of different models are never mixed (KS-07).

        Raises BudgetExceeded, UserError, ProviderError.
        """
        # Vectors must stay comparable, so there is one model for everyone; rights are about what answers people.
        model = self.embedding_model
        prefix = model.query_prefix if purpose == "query" else model.passage_prefix
        prefixed = [prefix + text for text in texts]
        tokens = sum(estimate_text_tokens(text) for text in prefixed)
        limit = self._purse.preflight(scope).remaining_chf if model.price is None else None
        with self._purse.pay(scope, model.id, _price(limit, model, tokens, 0)) as payment:
            embeddings = self._embedding_providers[model.provider].embed(model, prefixed, timeout_seconds)
            payment.settle(cost_chf(model, embeddings.usage) or Decimal(0), embeddings.usage)
        return Vectors(embeddings.vectors, model)

    def search(self, scope: CallScope, query: str, timeout_seconds: float) -> SearchAnswer:
        """Search the web with the first provider that can. Raises BudgetExceeded, UserError, ProviderError."""
        count("SearchCalls")
        preflight = self._purse.preflight(scope)
        *others, last = select_models(self._allowed(preflight.rights), ModelWish(Operation.WEB_SEARCH))
        ends_at = self._clock() + timeout_seconds
        for model in others:
            try:
                return self._search(scope, preflight.remaining_chf, model, query, ends_at)
            except ProviderError:
                count("ModelFallback")
        return self._search(scope, preflight.remaining_chf, last, query, ends_at)

    def _search(
        self, scope: CallScope, limit_chf: Decimal | None, model: Model, query: str, ends_at: float
    ) -> SearchAnswer:
        tokens = estimate_text_tokens(query)
        with self._purse.pay(scope, model.id, _price(limit_chf, model, tokens, model.max_output_tokens)) as payment:
            timeout_seconds = max(ends_at - self._clock(), _LEAST_SECONDS)
            answer = self._search_providers[model.provider].search(model, query, timeout_seconds)
            payment.settle(cost_chf(model, answer.usage, answer.requests) or Decimal(0), answer.usage)
        return answer

    def can(self, operation: Operation) -> bool:
        """Tell whether any model is there for an operation, whoever may use it."""
        return any(operation in model.ratings for model in self._models)

    @property
    def embedding_model(self) -> Model:
        """Return the embedding model in use."""
        return select_models(self._models, ModelWish(Operation.EMBEDDING))[0]

    def is_offline(self) -> bool:
        """Tell whether only the built-in model is there to answer."""
        return select_models(self._models, ModelWish(Operation.AGENT))[0].is_internal

    def context_window(self, operation: Operation, fixed_model: str | None) -> int:
        """Return how many tokens the model that comes first reads, whoever may use it. Raises UserError for none."""
        return select_models(self._models, ModelWish(operation, fixed_model=fixed_model))[0].context_window

    def models_for(self, scope: CallScope, operation: Operation) -> tuple[Model, ...]:
        """Return the models that the scope's principal may choose among. Raises UserError when there is none."""
        return select_models(self._allowed(self._purse.preflight(scope).rights), ModelWish(operation))

    def _allowed(self, rights: Sequence[ModelRight]) -> tuple[Model, ...]:
        """Return the models that these rights cover; the internal one takes nothing out of the house."""
        return tuple(model for model in self._models if model.is_internal or may_use(rights, model.provider, model.id))

    def _with_one_retry(self, turn: _Turn, model: Model) -> Answer:
        """Try a model, and once more after a fault that may pass, as long as nobody has seen text and time is left."""
        try:
            return self._call(turn, model)
        except ToolsUnsupported:
            # Remembered for the container's life: the model is answered without tools at once (AI-07).
            self._without_tools.add(model.id)
            count("ToolUnsupported")
        except ProviderError as error:
            wait_seconds = wait_before_retry(error)
            if turn.has_shown_text or wait_seconds is None or self._clock() + wait_seconds >= turn.ends_at:
                raise
            self._pause(wait_seconds)
        return self._call(turn, model)

    def _call(self, turn: _Turn, model: Model) -> Answer:
        """Try a model once."""
        request = replace(turn.request, tools=()) if model.id in self._without_tools else turn.request
        fitted = _fit(turn, model, request)
        amount = _price(turn.remaining_chf, model, turn.prompt_tokens, fitted.max_output_tokens)
        assembly = AnswerAssembly()
        with self._purse.pay(turn.scope, model.id, amount) as payment:
            try:
                provider = self._chat_providers[model.provider]
                timeout_seconds = max(turn.ends_at - self._clock(), _LEAST_SECONDS)
                # Closing the generator closes the connection: a stopped answer must not go on costing money.
                with closing(provider.stream_chat(model, fitted, timeout_seconds)) as deltas:
                    for delta in deltas:
                        assembly.add(delta)
                        if isinstance(delta, TextDelta):
                            turn.show(delta.text)
                assembled = assembly.finish()
            except BaseException:
                self._settle_aborted(payment, model, turn.prompt_tokens, assembly)
                raise
            cost = cost_chf(model, assembled.usage) or Decimal(0)
            payment.settle(cost, assembled.usage)
        return Answer(assembled, model, cost)

    def _settle_aborted(self, payment: Payment, model: Model, prompt_tokens: int, assembly: AnswerAssembly) -> None:
        """Book what an answer that was cut off has used as far as it was seen: the provider sent no usage."""
        if not assembly.has_begun:
            return
        usage = Usage(input_tokens=prompt_tokens, output_tokens=estimate_text_tokens(assembly.text))
        payment.settle(min(cost_chf(model, usage) or Decimal(0), payment.reserved_chf), usage)


def _fit(turn: _Turn, model: Model, request: ChatRequest) -> ChatRequest:
    """Limit the answer's length to the model's window and to what is left of the money. Raises BudgetExceeded."""
    room = min(request.max_output_tokens, model.max_output_tokens, model.context_window - turn.prompt_tokens)
    remaining = turn.remaining_chf
    price = _price(remaining, model, turn.prompt_tokens, room)
    if remaining is None or price == 0 or price <= remaining:
        return replace(request, max_output_tokens=room)
    prompt_cost = _price(remaining, model, turn.prompt_tokens, 0)
    token_cost = (_price(remaining, model, turn.prompt_tokens, 10_000) - prompt_cost) / 10_000
    affordable = int((remaining - prompt_cost) / token_cost) - 1 if token_cost else 0
    if affordable < _LEAST_OUTPUT_TOKENS:
        raise BudgetExceeded("The next model call could cost more than is left of the budget.")
    return replace(request, max_output_tokens=min(room, affordable))


def _price(limit_chf: Decimal | None, model: Model, input_tokens: int, output_tokens: int) -> Decimal:
    """Return the most such a call can cost. An unknown price is refused where there is a limit to keep."""
    amount = estimate_chf(model, input_tokens, output_tokens)
    if amount is not None:
        return amount
    if limit_chf is not None:
        raise BudgetExceeded(f"The price of {model.label} is not known, so it cannot be used under a budget.")
    return Decimal(0)
