"""Embeddings through the real SDK, and that broken answers never reach the store."""

import json
import time
from collections.abc import Iterator

import pytest

from tests.bench.wire_server import Reply, WireServer, running
from tests.embeddings import joined
from werkbank.ai.model import Model
from werkbank.ai.registry import listed_models
from werkbank.domain.errors import ProviderUnavailable, RateLimited, RequestRejected
from werkbank.domain.messages import Usage
from werkbank.providers.openai import OpenAiEmbeddings

SMALL = next(model for model in listed_models() if model.id == "openai/text-embedding-3-small")
TWO = Model.model_validate({**SMALL.model_dump(), "embedding_dimension": 2})


@pytest.fixture
def server() -> Iterator[WireServer]:
    with running() as wire_server:
        yield wire_server


def _answer(server: WireServer, vectors: list[list[float]]) -> None:
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    body = {"object": "list", "data": data[::-1], "model": "m", "usage": {"prompt_tokens": 5, "total_tokens": 5}}
    server.reply([json.dumps(body).encode()], content_type="application/json")


def test_vectors_come_in_the_order_of_the_texts(server: WireServer) -> None:
    _answer(server, [[1.0, 0.0], [0.0, 1.0]])
    embeddings = joined(OpenAiEmbeddings("key", server.url).embed(TWO, ["a", "b"], 10))
    assert embeddings.vectors == [[1.0, 0.0], [0.0, 1.0]]
    assert embeddings.usage == Usage(input_tokens=5)
    assert json.loads(server.bodies[0])["input"] == ["a", "b"]


def test_no_texts_make_no_call(server: WireServer) -> None:
    assert list(OpenAiEmbeddings("key", server.url).embed(TWO, [], 10)) == []
    assert server.bodies == []


@pytest.mark.parametrize("vectors", [[[1.0, 0.0]], [[1.0], [0.0]]], ids=["too few", "wrong dimension"])
def test_an_answer_that_does_not_fit_is_refused(vectors: list[list[float]], server: WireServer) -> None:
    _answer(server, vectors)
    with pytest.raises(RequestRejected):
        joined(OpenAiEmbeddings("key", server.url).embed(TWO, ["a", "b"], 10))


def test_faults(server: WireServer) -> None:
    server.reply([b"{}"], status=429, headers={"retry-after": "3"}, content_type="application/json")
    with pytest.raises(RateLimited):
        joined(OpenAiEmbeddings("key", server.url).embed(TWO, ["a"], 10))


def _reply(count: int, *, delay_seconds: float = 0.0) -> Reply:
    def pieces() -> Iterator[bytes]:
        time.sleep(delay_seconds)
        data = [{"object": "embedding", "index": index, "embedding": [1.0, 0.0]} for index in range(count)]
        usage = {"prompt_tokens": 5, "total_tokens": 5}
        yield json.dumps({"object": "list", "data": data, "model": "m", "usage": usage}).encode()

    return Reply(pieces(), headers={"content-type": "application/json"})


def test_all_requests_of_a_call_share_its_time(server: WireServer) -> None:
    server.reply_once(_reply(256, delay_seconds=0.4))
    server.reply_once(_reply(1, delay_seconds=0.4))
    with pytest.raises(ProviderUnavailable):
        list(OpenAiEmbeddings("key", server.url).embed(TWO, ["a"] * 257, 0.6))


def test_what_came_before_a_fault_has_come(server: WireServer) -> None:
    server.reply_once(_reply(256))
    server.reply([b"{}"], status=500, content_type="application/json")
    parts = OpenAiEmbeddings("key", server.url).embed(TWO, ["a"] * 257, 10)
    first = next(parts)
    assert (len(first.vectors), first.usage) == (256, Usage(input_tokens=5))
    with pytest.raises(ProviderUnavailable):
        next(parts)
