"""What each provider refuses in a conversation, on the requests that our adapters make of it (AG-12).

Checks raise AssertionError at the first thing that would be answered with 400. There is no adapter for Gemini, so
its contents are built here.
"""

import re
from itertools import pairwise
from typing import Any

from tests.scripted_model import SCRIPTED
from werkbank.ai.protocols import ChatRequest
from werkbank.domain.messages import Message
from werkbank.providers import anthropic_messages, mistral, openai_chat

History = tuple[Message, ...]
_Wire = dict[str, Any]


def assert_valid(history: History) -> None:
    """Check a repaired history against the rules of all providers; nothing of it is left to adapters that mend it."""
    for before, after in pairwise(history):
        assert before.role != after.role or before.role == "tool"
    assert all(message.role == "tool" or message.content.strip() or message.tool_calls for message in history)
    for check in (_openai, _anthropic, _mistral, _gemini) if history else ():
        check(history)


def _openai(history: History) -> None:
    """https://platform.openai.com/docs/api-reference/chat/create: a tool's message answers a call right before it."""
    messages: list[_Wire] = list(openai_chat.build_parameters(SCRIPTED, _request(history))["messages"])  # type: ignore[arg-type]
    _assert_calls_are_answered(messages)
    for message in messages:
        assert message["role"] == "tool" or message.get("content") or message.get("tool_calls")


# mistral-common's validator, and https://docs.mistral.ai/api: what may stand after what.
_AFTER = {
    "system": {"system", "user", "assistant"},
    "user": {"system", "user", "assistant"},
    "assistant": {"user", "assistant", "tool"},
    "tool": {"assistant", "tool"},
}


def _mistral(history: History) -> None:
    """Mistral: no user after a tool, ids of nine letters or digits, the last word is not the assistant's."""
    messages: list[_Wire] = list(mistral.build_parameters(SCRIPTED, _request(history))["messages"])  # type: ignore[arg-type]
    _assert_calls_are_answered(messages)
    assert messages[0]["role"] == "user"
    assert messages[-1]["role"] in {"user", "tool"}
    for before, after in pairwise(messages):
        assert after["role"] in _AFTER[before["role"]], (before["role"], after["role"])
    for message in messages:
        assert message["role"] == "tool" or message.get("content") or message.get("tool_calls")
        assert all(re.fullmatch("[A-Za-z0-9]{9}", call["id"]) for call in message.get("tool_calls", ()))


def _anthropic(history: History) -> None:
    """https://platform.claude.com/docs/en/api/messages: all results come first in the very next message of the user.

    A trailing message of the assistant would be a beginning to go on from, which current models refuse.
    """
    messages: list[_Wire] = list(anthropic_messages.build_parameters(SCRIPTED, _request(history))[0]["messages"])  # type: ignore[arg-type]
    assert [message["role"] for message in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"]
    called: list[str] = []
    asked: list[str] = []
    for message in messages:
        assert message["content"]
        kinds = [block["type"] for block in message["content"]]
        answered = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert answered == asked
        assert kinds[: len(answered)] == ["tool_result"] * len(answered)
        assert all(block["text"].strip() for block in message["content"] if block["type"] == "text")
        asked = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        called += asked
    assert len(set(called)) == len(called)
    assert all(re.fullmatch("[A-Za-z0-9_-]+", call_id) for call_id in called)


def _gemini(history: History) -> None:
    """https://ai.google.dev/gemini-api/docs/function-calling: calls follow a user's turn or results, results the calls.

    There are as many results as calls, no turn without parts, and the last turn is not the model's.
    """
    turns = _gemini_turns(history)
    assert [role for role, _ in turns] == ["user", "model"] * (len(turns) // 2) + ["user"]
    for role, parts in turns:
        assert parts
        assert role == "user" or "result" not in parts
    assert turns[0][1].count("result") == 0
    for (_, before), (_, after) in pairwise(turns):
        assert after.count("result") == before.count("call")
        assert after[: after.count("result")] == ["result"] * after.count("result")


def _gemini_turns(history: History) -> list[tuple[str, list[str]]]:
    turns: list[tuple[str, list[str]]] = []
    for message in history:
        text = ["text"] if message.content.strip() and message.role != "tool" else []
        parts = [*text, *["call" for _ in message.tool_calls], *["result" for _ in [0] if message.role == "tool"]]
        role = "model" if message.role == "assistant" else "user"
        if turns and turns[-1][0] == role == "user":
            turns[-1][1].extend(parts)
        else:
            turns.append((role, parts))
    return turns


def _request(history: History) -> ChatRequest:
    return ChatRequest(history, 500)


def _assert_calls_are_answered(messages: list[_Wire]) -> None:
    """Every call of an assistant is answered once, in tools' messages right behind it; those answer nothing else."""
    called: list[str] = []
    open_calls: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_calls
            open_calls.remove(message["tool_call_id"])
            continue
        assert not open_calls
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        called += open_calls
    assert not open_calls
    assert len(set(called)) == len(called)
