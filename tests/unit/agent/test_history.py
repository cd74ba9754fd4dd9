"""History repair (AG-12): valid for every provider, idempotent, the identity on valid histories."""

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from tests.scripted_model import SCRIPTED
from tests.unit.agent.provider_rules import assert_valid
from werkbank.agent.history import NOT_RUN, conversation, repair
from werkbank.domain.marking import as_data
from werkbank.domain.media import Image
from werkbank.domain.messages import Message, ToolCall
from werkbank.domain.runs import Run, StoredMessage
from werkbank.domain.time import utc_now
from werkbank.domain.trace import OUTCOME_UNKNOWN, ToolCallLog

NOW = Run(id="now", mandate_id="m", user_id="u", workflow_id="w", kind="agent", started_at=utc_now())
IDS = st.sampled_from("abc")
WORDS = st.sampled_from(["", "  ", "\n", "Hello.", "Two files."])
CALLS = st.lists(IDS, max_size=3).map(
    lambda ids: tuple(ToolCall(id=id, name="listFiles", arguments="{}") for id in ids)
)
MESSAGES = st.one_of(
    st.builds(Message, role=st.just("user"), content=WORDS),
    st.builds(Message, role=st.just("assistant"), content=WORDS, tool_calls=CALLS),
    st.builds(Message, role=st.just("tool"), content=WORDS, tool_call_id=st.one_of(st.none(), IDS)),
)
HISTORIES = st.lists(MESSAGES, max_size=12)


@st.composite
def valid_histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Turns of a user, rounds of calls with all their results, an answer; the last turn is still without one."""
    ids, told = count(), []
    for turn in reversed(range(draw(st.integers(1, 4)))):
        told.append(Message(role="user", content=draw(st.text("ab ", min_size=1, max_size=5).filter(str.strip))))
        for _ in range(draw(st.integers(0, 3))):
            calls = tuple(
                ToolCall(id=f"call{next(ids)}", name="listFiles", arguments="{}")
                for _ in range(draw(st.integers(1, 3)))
            )
            kept = draw(st.sampled_from([None, {"model": "m", "content": []}]))
            told.append(Message(role="assistant", content=draw(WORDS), tool_calls=calls, provider_data=kept))
            told += [Message(role="tool", tool_call_id=call.id, content=draw(WORDS)) for call in calls]
        if turn:
            told.append(Message(role="assistant", content="Done."))
    return tuple(told)


def result_of(call_id: str) -> Message:
    return Message(role="tool", tool_call_id=call_id, content=f"what {call_id} came to")


def call(call_id: str) -> ToolCall:
    return ToolCall(id=call_id, name="listFiles", arguments="{}")


@given(HISTORIES)
def test_repaired_history_is_valid_for_every_provider(broken: list[Message]) -> None:
    assert_valid(repair(broken))


@given(valid_histories())
def test_repair_is_the_identity_on_valid_histories(valid: tuple[Message, ...]) -> None:
    assert_valid(valid)
    assert repair(valid) == valid


@given(HISTORIES)
def test_repair_is_idempotent(history: list[Message]) -> None:
    once = repair(history)
    assert repair(once) == once


@given(HISTORIES)
def test_no_word_is_lost(history: list[Message]) -> None:
    for role in ("user", "assistant"):
        told = "".join(message.content for message in repair(history) if message.role == role)
        assert all(message.content.strip() in told for message in history if message.role == role)


@given(HISTORIES)
def test_no_call_is_lost(history: list[Message]) -> None:
    told = [call for message in repair(history) for call in message.tool_calls]
    assert len(told) == sum(len(message.tool_calls) for message in history)


def test_calls_of_neighbours_keep_their_results() -> None:
    # AG-12: neighbours are merged before orphans are looked for
    asked = [Message(role="assistant", tool_calls=(call(id),)) for id in "ab"]
    question = Message(role="user", content="What is here?")
    repaired = repair([question, *asked, Message(role="user", content=" "), result_of("a"), result_of("b")])
    assert repaired[1].tool_calls == (call("a"), call("b"))
    assert repaired[2:] == (result_of("a"), result_of("b"))


def test_calls_with_one_id_keep_their_own_results() -> None:
    asked = Message(role="assistant", tool_calls=(call("a"), call("a")))
    later = Message(role="assistant", tool_calls=(call("a"),))
    first, second, third = (result_of("a").model_copy(update={"content": text}) for text in ("1", "2", "3"))
    _, called, *results = repair([Message(role="user", content="Go"), asked, first, second, later, third])
    assert [call.id for call in called.tool_calls] == ["a", "a_2"]
    told = [(message.tool_call_id, message.content) for message in results if message.role == "tool"]
    assert told == [("a", "1"), ("a_2", "2"), ("a_3", "3")]


def test_pictures_of_neighbours_stay() -> None:
    pictures = [Image(data=data, mime_type="image/png") for data in (b"1", b"2")]
    (joined,) = repair([Message(role="user", content="See", images=(picture,)) for picture in pictures])
    assert joined.images == tuple(pictures)


def test_joined_answers_are_told_whole_to_the_provider_of_one() -> None:
    kept = {"model": SCRIPTED.id, "content": [{"type": "text", "text": "Two."}]}
    answers = [
        Message(role="assistant", content="One."),
        Message(role="assistant", content="Two.", provider_data=kept),
    ]
    repaired = repair([Message(role="user", content="Go"), *answers, Message(role="user", content="And?")])
    assert repaired[1] == Message(role="assistant", content="One.\n\nTwo.")


def test_history_without_its_first_question_begins_with_a_user() -> None:
    # an empty question was stored; what it was answered stays
    told = conversation(
        [stored("then", 0, "user", "  "), stored("then", 1, "assistant", "Hm?"), stored("now", 0, "user", "Hi")],
        [],
        NOW,
    )
    assert [message.role for message in told] == ["user", "assistant", "user"]
    assert [message.content for message in told[1:]] == ["Hm?", "Hi"]


def test_call_without_a_result_gets_outcome_unknown() -> None:
    asked = Message(role="assistant", tool_calls=(call("a"),))
    repaired = repair([Message(role="user", content="Go"), asked, Message(role="user", content="And?")])
    assert repaired[2] == Message(role="tool", tool_call_id="a", content=OUTCOME_UNKNOWN, is_error=True)


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
        NOW,
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
        NOW,
    )
    results = [(message.content, message.is_error) for message in told if message.role == "tool"]
    assert results == [
        (as_data("t", "fine"), False), (as_data("t", "broken"), True), (OUTCOME_UNKNOWN, True), (NOT_RUN, True),
    ]  # fmt: skip
