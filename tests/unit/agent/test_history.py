"""History repair (AG-12): valid for every provider, idempotent, the identity on valid histories."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from werkbank.agent.history import NOT_RUN, conversation, repair
from werkbank.domain.marking import as_data
from werkbank.domain.messages import Message, ToolCall
from werkbank.domain.runs import StoredMessage
from werkbank.domain.time import utc_now
from werkbank.domain.trace import OUTCOME_UNKNOWN, ToolCallLog

IDS = st.sampled_from("abcdef")
CALLS = st.lists(IDS, unique=True, max_size=3).map(
    lambda ids: tuple(ToolCall(id=id, name="listFiles", arguments="{}") for id in ids)
)
# What is stored has no NUL (domain/characters.py).
STORED = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
MESSAGES = st.one_of(
    st.builds(Message, role=st.just("user"), content=st.text(STORED, min_size=1, max_size=5)),
    st.builds(Message, role=st.just("assistant"), content=st.text(STORED, max_size=5), tool_calls=CALLS),
    st.builds(Message, role=st.just("tool"), content=st.text(STORED, max_size=5), tool_call_id=IDS),
)
HISTORIES = st.lists(MESSAGES, max_size=12)


def assert_valid(messages: tuple[Message, ...]) -> None:
    """What OpenAI, Anthropic, Mistral and Gemini have in common: turns alternate, calls and results pair up."""
    spoken = [message for message in messages if message.role != "tool"]
    for before, after in pairwise(messages):
        assert not (before.role == after.role and before.role in {"user", "assistant"})
    for position, message in enumerate(messages):
        wanted = [call.id for call in message.tool_calls]
        following = messages[position + 1 : position + 1 + len(wanted)]
        assert [result.tool_call_id for result in following] == wanted
    assert sum(len(message.tool_calls) for message in spoken) == len(messages) - len(spoken)


@given(HISTORIES)
def test_repaired_history_is_valid(history: list[Message]) -> None:
    assert_valid(repair(history))


@given(HISTORIES)
def test_repair_is_idempotent(history: list[Message]) -> None:
    once = repair(history)
    assert repair(once) == once


@given(HISTORIES)
def test_no_word_of_the_user_is_lost(history: list[Message]) -> None:
    told = "".join(message.content for message in repair(history) if message.role == "user")
    assert all(message.content in told for message in history if message.role == "user")


def test_call_without_a_result_gets_outcome_unknown() -> None:
    call = ToolCall(id="a", name="sendMail", arguments="{}")
    repaired = repair([Message(role="assistant", tool_calls=(call,)), Message(role="user", content="And?")])
    assert repaired[1] == Message(role="tool", tool_call_id="a", content=OUTCOME_UNKNOWN, is_error=True)


def test_result_without_a_call_is_dropped() -> None:
    assert repair([Message(role="tool", tool_call_id="a", content="x"), Message(role="user", content="Hi")]) == (
        Message(role="user", content="Hi"),
    )


def stored(run_id: str, round: int, role: str, content: str, *calls: ToolCall, context: str = "") -> StoredMessage:
    return StoredMessage.model_validate(
        {
            "id": f"{run_id}{round}{role}",
            "workflow_id": "w",
            "run_id": run_id,
            "round": round,
            "role": role,
            "content": content,
            "context": context or None,
            "tool_calls": calls,
            "created_at": utc_now(),
        }
    )


def log(call: ToolCall, status: str, result: str | None) -> ToolCallLog:
    return ToolCallLog.model_validate(
        {
            "run_id": "now",
            "round": 1,
            "call_id": call.id,
            "position": 0,
            "name": call.name,
            "arguments": "{}",
            "status": status,
            "result": result,
        }
    )


def test_earlier_questions_are_told_without_tools_and_source_numbers() -> None:
    call = ToolCall(id="a", name="listFiles", arguments="{}")
    told = conversation(
        [
            stored("then", 0, "user", "How much?", context="old passages"),
            stored("then", 1, "assistant", "", call),
            stored("then", 2, "assistant", "CHF 5 [1]."),
            stored("now", 0, "user", "Sure?", context="new passages"),
        ],
        [],
        "now",
    )
    assert [message.content for message in told] == ["How much?", "CHF 5.", "Sure?\n\nnew passages"]


def test_results_stand_by_the_status_of_their_calls() -> None:
    # AG-12, AG-23
    calls = [ToolCall(id=name, name="t", arguments="{}") for name in ("ok", "bad", "dead", "waiting")]
    told = conversation(
        [stored("now", 0, "user", "Go"), stored("now", 1, "assistant", "", *calls)],
        [
            log(calls[0], "succeeded", "fine"),
            log(calls[1], "failed", "broken"),
            log(calls[2], "claimed", None),
            log(calls[3], "requested", None),
        ],
        "now",
    )
    results = [(message.content, message.is_error) for message in told if message.role == "tool"]
    assert results == [
        (as_data("t", "fine"), False), (as_data("t", "broken"), True), (OUTCOME_UNKNOWN, True), (NOT_RUN, True),
    ]  # fmt: skip
