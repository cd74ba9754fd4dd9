"""Parameters that a server of one's own refuses: left out from then on (AI-04).

What a listed model takes is known beforehand. A private server may serve any: OpenAI's reasoning models, which refuse
`max_tokens` and a temperature, or through a gateway that takes no `stream_options`.
"""

import re
from collections.abc import Mapping

# What can be left out, and under which other name it may be taken instead.
_OPTIONAL = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
    "temperature": None,
    "stream_options": None,
    "prompt_cache_key": None,
}
_NAMES = re.compile(rf"\b({'|'.join(_OPTIONAL)})\b")
# OpenAI, LiteLLM, Pydantic (vLLM, Mistral), Go and Rust servers, Anthropic: not of values that are merely too large.
_REFUSAL = re.compile(
    r"unsupported|n[o']t (?:be )?(?:supported|support|permitted|allowed|recognized|accepted)"
    r"|extra_forbidden|unknown|unrecognized|unexpected|deprecated"
)
# A server may repeat the request in its error: only the beginning is its own.
_SENTENCE_LENGTH = 400


class RefusedParameters:
    """What each model of a server has refused in this container's life."""

    def __init__(self) -> None:
        self._refused: dict[str, set[str]] = {}

    def without(self, model: str, parameters: Mapping[str, object]) -> dict[str, object]:
        """Return the parameters without the refused ones, or with them under their other name."""
        refused = self._refused.get(model, set())
        kept = {name: value for name, value in parameters.items() if name not in refused}
        for name in refused & parameters.keys():
            instead = _OPTIONAL[name]
            if instead and instead not in refused:
                kept[instead] = parameters[name]
        return kept

    def learn(self, model: str, message: str) -> bool:
        """Take in a server's error; tell whether it names a parameter that was not known to be refused."""
        start = message[:_SENTENCE_LENGTH].lower()
        named = _NAMES.search(start) if _REFUSAL.search(start) else None
        refused = self._refused.setdefault(model, set())
        if named is None or named[0] in refused:
            return False
        refused.add(named[0])
        return True
