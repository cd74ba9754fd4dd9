"""What the gate gives back: an answer with who gave it at what cost, and vectors with what they compare with."""

from dataclasses import dataclass
from decimal import Decimal

from werkbank.ai.model import Model
from werkbank.ai.protocols import AssembledAnswer


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, the model that gave it and what it cost.

    `instead_of` is the id of the model that was to answer, or the operation's name where none fitted, when the last
    good one stood in for it, `answered_under` the version of the keys whose address it did that at (AG-13).
    """

    assembled: AssembledAnswer
    model: Model
    cost_chf: Decimal
    instead_of: str | None = None
    answered_under: str | None = None


@dataclass(frozen=True, slots=True)
class Vectors:
    """One vector per text, and the model they are comparable within (KS-07)."""

    vectors: list[list[float]]
    model: Model
