"""One conversation on its way through the gate: what it needs of a model, and how long its answer may be."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from werkbank.ai.model import Capability, Model
from werkbank.ai.operations import Operation
from werkbank.ai.pricing import reservation_chf
from werkbank.ai.protocols import ChatRequest
from werkbank.ai.selector import ModelChoice, ModelWish
from werkbank.billing.purse import CallScope
from werkbank.domain.errors import BudgetExceeded

# With fewer tokens than this an answer says nothing useful: better to stop and sum up.
_LEAST_OUTPUT_TOKENS = 256
# Models that think count it as output: what they may think comes on top of what they are to say.
_THINKING_TOKENS = 8_192
_LEAST_THINKING_TOKENS = 1_024


@dataclass(slots=True)
class Turn:
    """A conversation being answered, over all tries; `ends_at` is the clock's time when it must be over.

    `asked` is the model that was tried last.
    """

    scope: CallScope
    remaining_chf: Decimal | None
    request: ChatRequest
    prompt_tokens: int
    ends_at: float
    on_text: Callable[[str], None]
    has_shown_text: bool = False
    is_short_of_time: bool = False
    asked: Model | None = None

    def show(self, text: str) -> None:
        """Pass text on; from now on another try would contradict what somebody has read."""
        self.has_shown_text = True
        self.on_text(text)


def wish_of(turn: Turn, operation: Operation, choice: ModelChoice) -> ModelWish:
    """Return what the conversation needs of a model. Nothing is offered that leaves no room for a useful answer."""
    request = turn.request
    sees = any(message.images for message in request.messages)
    return ModelWish(
        operation,
        turn.prompt_tokens,
        _LEAST_OUTPUT_TOKENS,
        needs=frozenset({Capability.VISION} if sees else ()),
        prefers=frozenset({Capability.TOOLS} if request.tools else ()),
        choice=choice,
    )


def fit(turn: Turn, model: Model) -> ChatRequest:
    """Limit the answer's length to the model's window and to what is left of the money. Raises BudgetExceeded."""
    request = turn.request
    thinks = model.can(Capability.REASONING)
    wanted = request.max_output_tokens + (_THINKING_TOKENS if thinks else 0)
    least = _LEAST_OUTPUT_TOKENS + (_LEAST_THINKING_TOKENS if thinks else 0)
    room = min(wanted, model.max_output_tokens, model.context_window - turn.prompt_tokens)
    remaining = turn.remaining_chf
    price = reservation_chf(remaining, model, turn.prompt_tokens, room)
    if remaining is None or price == 0 or price <= remaining:
        return replace(request, max_output_tokens=room)
    prompt_cost = reservation_chf(remaining, model, turn.prompt_tokens, 0)
    token_cost = (reservation_chf(remaining, model, turn.prompt_tokens, 10_000) - prompt_cost) / 10_000
    affordable = int((remaining - prompt_cost) / token_cost) - 1 if token_cost else 0
    if affordable < least:
        raise BudgetExceeded("The next model call could cost more than is left of the budget.")
    return replace(request, max_output_tokens=min(room, affordable))
