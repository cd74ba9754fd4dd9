"""Mistral's dialect: what its API refuses is never sent, what it alone sends is understood (AI-01, AI-04, AI-06)."""

import json
import re
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.replay import model_for
from tests.bench.wire_server import WireServer
from tests.embeddings import joined
from werkbank.ai.assembly import assemble
from werkbank.ai.keys import ModelKeys
from werkbank.ai.model import Capability, Model
from werkbank.ai.protocols import AssembledAnswer, ChatRequest
from werkbank.domain.messages import Message, ToolCall, ToolDefinition
from werkbank.providers.catalog import build_catalog
from werkbank.providers.mistral import build_parameters

TOOL = ToolDefinition(name="searchFiles", description="Searches.", parameters={"type": "object", "properties": {}})
CALL = ToolCall(id="toolu_01PQjhxo3eirCdKNvCJrKc8f", name="searchFiles", arguments="{}")
HISTORY = (
    Message(role="system", content="You are Werkbank."),
    Message(role="user", content="What is here?"),
    Message(role="assistant", tool_calls=(CALL,)),
    Message(role="tool", tool_call_id=CALL.id, content="Two files."),
    Message(role="system", content="It is Monday."),
    Message(role="assistant"),
    Message(role="user", content="Sum up."),
)
THINKER = frozenset({Capability.TOOLS, Capability.REASONING, Capability.TEMPERATURE})


def _model(capabilities: frozenset[Capability] = THINKER) -> Model:
    model = {**model_for("chat").model_dump(), "provider": "mistral", "capabilities": capabilities}
    return Model.model_validate(model)


def _ask(server: WireServer, request: ChatRequest, *deltas: dict[str, Any]) -> tuple[Any, AssembledAnswer]:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "stop"}]}
    server.reply([f"data: {json.dumps(chunk)}\n\n".encode() for chunk in (*chunks, end)])
    keys = ModelKeys.model_validate({"mistralApiKey": "m", "mistralBaseUrl": server.url})
    answer = assemble(build_catalog(keys).providers.chat["mistral"].stream_chat(_model(), request, 10))
    return json.loads(server.bodies[-1]), answer


def test_form(server: WireServer) -> None:
    body, _ = _ask(server, ChatRequest(HISTORY, 500, (TOOL,), temperature=0.3))
    assert server.paths[-1] == "/chat/completions"
    # Unknown fields are answered with 422.
    assert body.keys() == {"model", "messages", "stream", "max_tokens", "temperature", "tools"}
    assert body["max_tokens"] == 500
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "user"]
    call_id = body["messages"][2]["tool_calls"][0]["id"]
    assert re.fullmatch("[A-Za-z0-9]{9}", call_id)
    assert body["messages"][3]["tool_call_id"] == call_id
    assert body["messages"][5]["content"] == "<system>\nIt is Monday.\n</system>"


def test_a_conversation_is_named_so_that_its_beginning_is_cached() -> None:
    request = ChatRequest(HISTORY, 500, conversation="0b6f")
    assert build_parameters(_model(THINKER | {Capability.CACHING}), request)["prompt_cache_key"] == "0b6f"
    assert "prompt_cache_key" not in build_parameters(_model(), request)


def test_its_own_ids_stay_as_they_are(server: WireServer) -> None:
    own = CALL.model_copy(update={"id": "gSIMJiOkT"})
    history = (*HISTORY[:2], Message(role="assistant", tool_calls=(own,)), Message(role="tool", tool_call_id=own.id))
    body, _ = _ask(server, ChatRequest(history, 500, (TOOL,)))
    assert body["messages"][3]["tool_call_id"] == "gSIMJiOkT"


def test_thinking_comes_back_in_its_own_form(server: WireServer) -> None:
    thinking: list[dict[str, Any]] = [
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Two"}]}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": " files."}], "signature": "c2ln"}]},
        {"content": [{"type": "text", "text": "There are "}]},
        {"content": "two."},
    ]
    _, answer = _ask(server, ChatRequest(HISTORY[:2], 500), *thinking)
    assert answer.message.content == "There are two."
    body, _ = _ask(server, ChatRequest((*HISTORY[:2], answer.message, HISTORY[-1]), 500))
    assert body["messages"][2]["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Two files."}], "signature": "c2ln"},
        {"type": "text", "text": "There are two."},
    ]


def test_two_whole_calls_in_one_delta_without_index(server: WireServer) -> None:
    calls = [{"id": f"aaaaaaaa{n}", "function": {"name": f"tool{n}", "arguments": f'{{"n":{n}}}'}} for n in (1, 2)]
    _, answer = _ask(server, ChatRequest(HISTORY[:2], 500, (TOOL,)), {"tool_calls": calls})
    assert [(call.id, call.name, call.arguments) for call in answer.message.tool_calls] == [
        ("aaaaaaaa1", "tool1", '{"n":1}'),
        ("aaaaaaaa2", "tool2", '{"n":2}'),
    ]


def test_embeddings_keep_below_the_tokens_of_one_call(server: WireServer) -> None:
    keys = ModelKeys.model_validate({"mistralApiKey": "m", "mistralBaseUrl": server.url})
    catalog = build_catalog(keys)
    model = next(model for model in catalog.models if model.id == "mistral/mistral-embed")
    data = [{"object": "embedding", "index": index, "embedding": [0.0] * 1024} for index in range(8)]
    body = {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 9, "total_tokens": 9}}
    server.reply([json.dumps(body).encode()], content_type="application/json")
    before = len(server.bodies)
    embeddings = joined(catalog.providers.embedding["mistral"].embed(model, ["x" * 4_000] * 16, 10))
    assert len(embeddings.vectors) == 16
    assert embeddings.usage.input_tokens == 18
    assert [len(json.loads(sent)["input"]) for sent in server.bodies[before:]] == [8, 8]
    assert server.paths[-1] == "/embeddings"


_CALLS = st.builds(ToolCall, id=st.text(min_size=1, max_size=40), name=st.just("searchFiles"), arguments=st.just("{}"))
_TURNS = st.lists(
    st.one_of(
        st.builds(Message, role=st.just("user"), content=st.text(min_size=1)),
        st.builds(Message, role=st.just("system"), content=st.text(min_size=1)),
        st.builds(Message, role=st.just("assistant"), content=st.text()),
        _CALLS.map(lambda call: (call, Message(role="assistant", tool_calls=(call,)))),
    ),
    max_size=12,
)


@given(_TURNS)
def test_no_history_breaks_the_order_of_roles(turns: list[Message | tuple[ToolCall, Message]]) -> None:
    messages: list[Message] = [Message(role="user", content="Begin.")]
    for turn in turns:
        if isinstance(turn, tuple):
            messages += [turn[1], Message(role="tool", tool_call_id=turn[0].id, content="Done.")]
        else:
            messages.append(turn)
    sent: list[Any] = list(build_parameters(_model(), ChatRequest(tuple(messages), 9, (TOOL,)))["messages"])
    for before, after in pairwise(sent):
        assert not (before["role"] == "tool" and after["role"] in ("user", "system"))
        assert after["role"] != "system"
        if after["role"] == "tool":
            assert after["tool_call_id"] == before["tool_calls"][0]["id"]
            assert re.fullmatch("[A-Za-z0-9]{9}", after["tool_call_id"])
    assert all(one.get("content") or one.get("tool_calls") for one in sent if one["role"] == "assistant")
