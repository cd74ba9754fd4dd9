"""What a use case asks of a model provider, and what it gets back. Adapters in `providers/` implement it.

Every fault is raised as one of the types of `domain/errors.py`; nothing of an SDK gets through.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from pydantic import JsonValue

from werkbank.ai.model import Model, ProviderName
from werkbank.domain.media import Audio, Image
from werkbank.domain.messages import Message, ToolDefinition, Usage

ImageShape = Literal["square", "landscape", "portrait"]
StopReason = Literal["stop", "tool_calls", "length", "refusal", "pause", "other"]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One turn to be answered. With `may_call_tools` off the tools stay in the (cached) prompt but may not be called.

    `temperature` None leaves it to the model; adapters drop it for models that refuse it. `conversation` is the same
    for requests that begin alike, so that a provider finds what it has cached of them, and tells nothing else.
    """

    messages: tuple[Message, ...]
    max_output_tokens: int
    tools: tuple[ToolDefinition, ...] = ()
    temperature: float | None = None
    may_call_tools: bool = True
    conversation: str | None = None

    def without_thinking(self) -> ChatRequest:
        """Return the request with its answers in text and calls alone, without what their providers want back."""
        plain = (message.model_copy(update={"provider_data": None}) for message in self.messages)
        return replace(self, messages=tuple(plain))


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of a tool call. None (or empty) means: not in this piece.

    Fragments of one call share `index`; without one, a new `id` starts a call and others continue the latest that
    began at their `place` among the pieces that came together.
    """

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str = ""
    place: int = 0


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The last delta of every complete stream; a stream without it raises `IncompleteStream` instead.

    `provider_data` belongs on the assistant message, so that the provider gets it back (signed thinking blocks).
    """

    usage: Usage
    stop_reason: StopReason
    provider_data: dict[str, JsonValue] | None = None


Delta = TextDelta | ToolCallDelta | StreamEnd


@dataclass(frozen=True, slots=True)
class AssembledAnswer:
    """A whole answer: the assistant message to store, what it used and why it ended."""

    message: Message
    usage: Usage
    stop_reason: StopReason


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors that one request gave, one per text and in order, and the tokens they took."""

    vectors: list[list[float]]
    usage: Usage


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page that was found. Its texts come from strangers; `date` is the page's own, in the provider's words."""

    title: str
    url: str
    snippet: str
    date: str | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What a search found, best first. `text` answers in the provider's own words, if it gives more than facts.

    `units` counts what is billed by the request, `usage` what is billed by the token.
    """

    results: tuple[SearchResult, ...]
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    units: int = 1


@dataclass(frozen=True, slots=True)
class Page:
    """The main text of a page, as Markdown. It comes from strangers."""

    url: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The pages that could be read, the addresses of those that could not, and the requests that are billed (units)."""

    pages: tuple[Page, ...]
    failed: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    units: int = 1


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """A picture to be made, described in words."""

    prompt: str
    shape: ImageShape = "square"


@dataclass(frozen=True, slots=True)
class GeneratedImage:
    """A picture that was made; `units` counts pictures, `usage` what is billed by the token."""

    image: Image
    usage: Usage = field(default_factory=Usage)
    units: int = 1


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A text to be read aloud, in a voice of its language (ISO 639-1)."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Speech:
    """A text read aloud; `units` counts its characters, `usage` what is billed by the token."""

    audio: Audio
    units: int
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said; `units` counts the seconds that were heard. `language` (ISO 639-1) where it was recognized."""

    text: str
    units: int
    language: str | None = None
    usage: Usage = field(default_factory=Usage)


class ChatProvider(Protocol):
    """Answers a conversation as a stream."""

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer's deltas, `StreamEnd` last. Implementations are generators: closing one aborts the call.

        `timeout_seconds` bounds the whole call. Raises the `ProviderError` types.
        """
        ...


class EmbeddingProvider(Protocol):
    """Turns texts into vectors of `model.embedding_dimension`."""

    def embed(self, model: Model, texts: Sequence[str], timeout_seconds: float) -> Iterator[Embeddings]:
        """Yield the vectors of the texts, in order, a request at a time: what has come is paid for, whatever follows.

        `timeout_seconds` bounds the whole call. Raises the `ProviderError` types.
        """
        ...


class SearchProvider(Protocol):
    """Searches the web."""

    def search(self, model: Model, query: str, language: str, timeout_seconds: float) -> SearchAnswer:
        """Return what is found for a query that stands alone; nothing found is an answer without results.

        `language` (BCP 47) is the reader's. `timeout_seconds` bounds the whole call. Raises the `ProviderError` types.
        """
        ...


class ExtractionProvider(Protocol):
    """Reads pages of the web."""

    def extract(self, model: Model, urls: Sequence[str], timeout_seconds: float) -> Extraction:
        """Return the texts of at most 20 pages. Raises the `ProviderError` types."""
        ...


class ImageProvider(Protocol):
    """Makes pictures."""

    def generate_image(self, model: Model, request: ImageRequest, timeout_seconds: float) -> GeneratedImage:
        """Make one picture. Raises the `ProviderError` types; `RequestRejected` also for what the provider forbids."""
        ...


class SpeechProvider(Protocol):
    """Reads texts aloud."""

    def speak(self, model: Model, request: SpeechRequest, timeout_seconds: float) -> Speech:
        """Return the text as speech. Raises the `ProviderError` types."""
        ...


class TranscriptionProvider(Protocol):
    """Writes down what is said."""

    def transcribe(self, model: Model, audio: Audio, timeout_seconds: float) -> Transcript:
        """Return what is said, in the language it is said in. Raises the `ProviderError` types."""
        ...


@dataclass(frozen=True, slots=True)
class Providers:
    """Who can be called, for what, by provider name."""

    chat: dict[ProviderName, ChatProvider] = field(default_factory=dict)
    embedding: dict[ProviderName, EmbeddingProvider] = field(default_factory=dict)
    search: dict[ProviderName, SearchProvider] = field(default_factory=dict)
    extraction: dict[ProviderName, ExtractionProvider] = field(default_factory=dict)
    image: dict[ProviderName, ImageProvider] = field(default_factory=dict)
    speech: dict[ProviderName, SpeechProvider] = field(default_factory=dict)
    transcription: dict[ProviderName, TranscriptionProvider] = field(default_factory=dict)
