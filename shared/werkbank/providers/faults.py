"""Every provider's faults, as the types of `domain/errors.py` (AG-11). SDK adapters only say what they saw.

Messages say who failed and why in words of ours: a provider's own text may repeat parts of the prompt or of a key.
"""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime

from werkbank.domain.errors import (
    ModelNotFound,
    PromptTooLong,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    ThinkingRefused,
    ToolsUnsupported,
)
from werkbank.domain.time import utc_now

# The providers' own words, in lower case: Anthropic's, OpenAI's and its imitators', Mistral's, then AWS's.
_CODES: dict[type[ProviderError], str] = {
    ProviderRefused: """authentication_error billing_error permission_error
        account_deactivated billing_hard_limit_reached billing_not_active insufficient_quota invalid_api_key
        accessdeniedexception expiredtokenexception invalidclienttokenid invalidsignatureexception
        missingauthenticationtokenexception signaturedoesnotmatch unrecognizedclientexception""",
    ModelNotFound: """not_found_error
        model_not_found model_decommissioned model_not_available
        invalid_model resourcenotfoundexception""",
    PromptTooLong: "request_too_large context_length_exceeded exceed_context_size_error 3051",
    ThinkingRefused: "invalid_encrypted_content",
    RateLimited: """rate_limit_error
        rate_limit_exceeded requests tokens too_many_requests
        servicequotaexceededexception throttlingexception toomanyrequestsexception modelnotreadyexception""",
    ProviderUnavailable: """api_error overloaded_error timeout_error
        internal_error internal_server_error server_error service_unavailable
        internalserverexception modelerrorexception modelstreamerrorexception modeltimeoutexception
        serviceunavailableexception""",
    RequestRejected: "invalid_request_error invalid_prompt invalid_request_prompt validationexception",
}
_KIND_OF_CODE = {code: kind for kind, codes in _CODES.items() for code in codes.split()}
# OpenAI's SDK and its imitators use this word for nearly everything; then the status says more.
_VAGUE_CODE = "invalid_request_error"

_TOOLS = r"(?:tools\b|tool[ _-]?(?:call|use)(?:s|ing)?\b|function[ _-]?call(?:s|ing)?\b)"
# Some faults have no code of their own, only a sentence. Each alternative is one provider's or server's.
_SENTENCES: tuple[tuple[type[ProviderError], re.Pattern[str]], ...] = (
    (
        ToolsUnsupported,
        re.compile(
            rf"n[o']t support `?{_TOOLS}"  # Ollama, DeepSeek, xAI, Bedrock
            rf"|{_TOOLS}[`'\"]? (?:is|are) (?:un|not (?:yet |currently )?)(?:supported|available|enabled)"  # Groq
            r"|endpoints found that support tool use|support the provided 'tool_choice'"  # OpenRouter
            r"|tool choice requires --|tools param requires --|only named tools are supported"  # vLLM, llama.cpp
            r"|'body', 'tools?\b|support parameters: .{0,200}\btools\b"  # older vLLM, LiteLLM
            r"|unsupported parameter: '(?:tools|tool_choice)"  # OpenAI
        ),
    ),
    (
        ThinkingRefused,
        re.compile(
            r"invalid `?signature`? in `?thinking|bound to a different conversation"  # Anthropic
            r"|`?redacted_thinking`? blocks in the latest assistant message cannot be modified"  # Anthropic
            r"|encrypted content .{0,80}could not be verified"  # OpenAI
        ),
    ),
    (
        PromptTooLong,
        re.compile(
            r"prompt is too long|exceed context limit"  # Anthropic
            r"|maximum context length|maximum input length|reduce the length of the messages"  # OpenAI, vLLM, Groq
            r"|tokens?,? too large for model|exceeds the available context size"  # Mistral, llama.cpp
            r"|input is too long|input tokens exceed|too many input tokens"  # Bedrock
        ),
    ),
    (
        ModelNotFound,
        re.compile(
            r"model identifier is invalid|on-demand throughput isn.t supported|access to the model with"  # Bedrock
            r"|reached the end of its life|invalid model: "  # Bedrock, Mistral
        ),
    ),
    # Mistral's speech answers what may not be said with 403, as if the key were at fault.
    (RequestRejected, re.compile("moderation")),
)
# Where a sentence may say more than code and status do. The text may repeat parts of the prompt: only its start counts.
_VAGUE_KINDS = (RequestRejected, ModelNotFound, ProviderUnavailable, ProviderRefused)
_SENTENCE_LENGTH = 400

_TEXTS: dict[type[ProviderError], str] = {
    ProviderRefused: "{} refuses the credentials, or the account there has no credit left.",
    ModelNotFound: "{} does not offer this model.",
    ToolsUnsupported: "This model of {} cannot be offered tools.",
    ThinkingRefused: "{} does not take back what its model thought earlier in this conversation.",
    PromptTooLong: "The request is longer than this model of {} can read.",
    RequestRejected: "{} calls the request invalid.",
    ProviderUnavailable: "{} is not available at the moment.",
}


def fault(
    provider: str, status: int | None, codes: Sequence[object], headers: Mapping[str, str], message: str = ""
) -> ProviderError:
    """Return the error for what a provider answered.

    `codes` are the provider's own words for the fault, the most exact first; they outrank the HTTP `status`, because
    inside a stream the status is still that of the success it began as. `message` is read, never shown.
    """
    words = [str(code).lower() for code in codes if code is not None]
    status = status if status is not None and status >= 400 else _status_among(words)
    kind = _kind_of(words, status)
    if kind in _VAGUE_KINDS and status != 429:
        kind = _told_kind(message) or kind
    if kind is RateLimited:
        return RateLimited(f"{provider} is receiving too many requests.", retry_after_seconds(headers))
    return kind(_TEXTS[kind].format(provider))


def _status_among(words: Sequence[str]) -> int | None:
    """Return the HTTP status that some servers give as the code of an error inside a stream."""
    return next((int(word) for word in words if re.fullmatch("[45][0-9][0-9]", word)), None)


def _kind_of(words: Sequence[str], status: int | None) -> type[ProviderError]:
    for word in words:
        kind = _KIND_OF_CODE.get(word)
        if kind is not None and not (word == _VAGUE_CODE and status in (401, 402, 403, 404, 413, 429)):
            return kind
    return _kind_of_status(status)


def _kind_of_status(status: int | None) -> type[ProviderError]:
    if status in (401, 402, 403):
        return ProviderRefused
    if status in (404, 410):
        return ModelNotFound
    if status == 413:
        return PromptTooLong
    if status == 429:
        return RateLimited
    if status is not None and 400 <= status < 500 and status not in (408, 409, 424, 425):
        return RequestRejected
    return ProviderUnavailable


def _told_kind(message: str) -> type[ProviderError] | None:
    start = message[:_SENTENCE_LENGTH].lower()
    return next((kind for kind, pattern in _SENTENCES if pattern.search(start)), None)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the wait a `Retry-After` header asks for, given as seconds or as a date (RFC 9110 §10.2.3), else None.

    OpenAI's `retry-after-ms` is the same in milliseconds and more exact.
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    return _seconds(value) if _seconds(value) is not None else _seconds_until(value)


def _seconds(value: str | None) -> float | None:
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds_until(date: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    # A date without a zone is GMT by the RFC.
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - utc_now()).total_seconds())
