"""OpenAI and every server that speaks its API, through the official SDK."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta, Embeddings
from werkbank.ai.tokens import estimate_text_tokens
from werkbank.domain.errors import RequestRejected
from werkbank.domain.messages import Usage
from werkbank.providers import openai_chat, openai_responses
from werkbank.providers.deadline import Deadline
from werkbank.providers.openai_connection import Connection, timeout_of, translated_faults
from werkbank.providers.refused_parameters import RefusedParameters

if TYPE_CHECKING:
    from openai import Stream
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

# OpenAI's limit is 2,048 inputs and 300,000 tokens a request.
_TEXTS_PER_CALL = 256
_TOKENS_PER_CALL = 300_000


class OpenAiResponses:
    """Chat with OpenAI's own models over the Responses API."""

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._connection = Connection(api_key, base_url, "OpenAI")

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer's deltas; see `ChatProvider`."""
        deadline = Deadline(timeout_seconds)
        reading = openai_responses.ResponsesReading(model, request)
        parameters = openai_responses.build_parameters(model, request)
        with (
            translated_faults(self._connection.provider, deadline, reading),
            self._connection.client.responses.create(**parameters, timeout=timeout_of(timeout_seconds)) as stream,
            deadline.enforced_on(stream),
        ):
            for event in stream:
                yield from reading.take(event)
                deadline.check()
        yield reading.end()


class OpenAiChat:
    """Chat with any OpenAI-compatible server over the Chat Completions API.

    `provider` is its name in messages, `build_parameters` its dialect.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str | None = None,
        provider: str = "The private model server",
        build_parameters: Callable[
            [Model, ChatRequest], CompletionCreateParamsStreaming
        ] = openai_chat.build_parameters,
    ) -> None:
        self._connection = Connection(api_key, base_url, provider)
        self._build_parameters = build_parameters
        self._refused = RefusedParameters()

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer's deltas; see `ChatProvider`."""
        deadline = Deadline(timeout_seconds)
        reading = openai_chat.ChatReading(model, request, self._connection.provider)
        with (
            translated_faults(self._connection.provider, deadline, reading),
            self._open(model, request, deadline) as stream,
            deadline.enforced_on(stream),
        ):
            for chunk in stream:
                yield from reading.take(chunk)
                deadline.check()
        yield reading.end()

    def _open(self, model: Model, request: ChatRequest, deadline: Deadline) -> Stream[ChatCompletionChunk]:
        """Begin the call, again without what the server refuses by name, as long as it names something new."""
        from openai import BadRequestError, UnprocessableEntityError

        parameters = self._build_parameters(model, request)
        while True:
            taken = cast("CompletionCreateParamsStreaming", self._refused.without(model.name, parameters))
            try:
                return self._connection.client.chat.completions.create(**taken, timeout=timeout_of(deadline.remaining))
            except (BadRequestError, UnprocessableEntityError) as error:
                if not self._refused.learn(model.name, error.message):
                    raise
                deadline.check()


class OpenAiEmbeddings:
    """Embeddings of OpenAI or any compatible server, in calls of at most `tokens_per_call` (estimated) tokens."""

    def __init__(
        self,
        api_key: str,
        base_url: str | None = None,
        provider: str = "OpenAI",
        tokens_per_call: int = _TOKENS_PER_CALL,
    ) -> None:
        self._connection = Connection(api_key, base_url, provider)
        self._tokens_per_call = tokens_per_call

    def embed(self, model: Model, texts: Sequence[str], timeout_seconds: float) -> Iterator[Embeddings]:
        """Yield one vector per text; see `EmbeddingProvider`."""
        deadline = Deadline(timeout_seconds)
        for batch in _batches(texts, self._tokens_per_call):
            deadline.check()
            yield self._embed_batch(model, batch, deadline)

    def _embed_batch(self, model: Model, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        with translated_faults(self._connection.provider, deadline):
            answer = self._connection.client.embeddings.create(
                model=model.name, input=list(texts), encoding_format="float", timeout=timeout_of(deadline.remaining)
            )
        ordered = sorted(answer.data, key=lambda entry: entry.index)
        vectors = [entry.embedding for entry in ordered]
        wanted = model.embedding_dimension or (len(vectors[0]) if vectors else 0)
        if len(vectors) != len(texts) or any(len(vector) != wanted for vector in vectors):
            raise RequestRejected(f"{model.label} did not return {len(texts)} vectors of {wanted} numbers.")
        return Embeddings(vectors, Usage(input_tokens=answer.usage.prompt_tokens if answer.usage else 0))


def _batches(texts: Sequence[str], tokens_per_call: int) -> Iterator[list[str]]:
    """Part the texts so that no call is too large; a text that alone is too large goes alone."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        cost = estimate_text_tokens(text)
        if batch and (len(batch) == _TEXTS_PER_CALL or tokens + cost > tokens_per_call):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += cost
    if batch:
        yield batch
