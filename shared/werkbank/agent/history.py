"""The conversation as the model gets to see it: complete, in order, and valid for every provider.

Earlier questions of the conversation are told as question and answer only: what their tools said stays in memory and
can be looked up again. The present question is told in full.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, takewhile

from werkbank.agent.moments import moments
from werkbank.agent.summarization import Fold
from werkbank.domain.marking import as_data, as_message_from_outside
from werkbank.domain.messages import Message
from werkbank.domain.runs import Run, StoredMessage
from werkbank.domain.trace import NOT_ALLOWED, OUTCOME_UNKNOWN, ToolCallLog

NOT_RUN = "Not run: the work was stopped before this call began."

_BEFORE = Message(role="user", content="(What was asked before is not told here.)")
_UNKNOWN = Message(role="tool", content=OUTCOME_UNKNOWN, is_error=True)
_GO_ON = Message(role="user", content="Go on.")

# Source numbers belong to one run; from an earlier answer they would point at the wrong sources.
_CITATION_MARK = re.compile(r" ?\[\d{1,4}\]")


def conversation(
    messages: Iterable[StoredMessage], calls: Sequence[ToolCallLog], run: Run, folds: Sequence[Fold] = ()
) -> tuple[Message, ...]:
    """Return the messages for a model call of this run, repaired; `folds` stand for the rounds they sum up."""
    passed = moments(run, calls)
    results = {(call.run_id, call.round, call.call_id): call for call in calls}
    folded = max((fold.last for fold in folds), default=0)
    told: list[Message] = []
    for message in messages:
        if message.run_id == run.id:
            if message.role == "user":
                told.append(_question(message, folds, [text for round, text in passed.items() if round <= folded]))
            elif message.round > folded:
                told.extend(_in_full(message, results, passed.get(message.round)))
        elif message.content.strip():
            told.append(Message(role=message.role, content=_CITATION_MARK.sub("", words_of(message))))
    return repair(told)


def _question(message: StoredMessage, folds: Iterable[Fold], passed: Sequence[str]) -> Message:
    """Return the question with what goes along: its context, then what the folded rounds came to, and when."""
    summaries = [as_data(f"summary of rounds {fold.first} to {fold.last}", fold.text) for fold in folds]
    parts = [words_of(message), message.context or "", *summaries, *passed[-1:]]
    return Message(role="user", content="\n\n".join(part for part in parts if part))


def words_of(message: StoredMessage, longest: int | None = None) -> str:
    """Return what a message says, up to a length; what started a run from outside is data, not its user's (AG-16)."""
    content = message.content[:longest]
    if message.role == "assistant" or message.trusted:
        return content
    return as_message_from_outside(content)


def _in_full(
    message: StoredMessage, results: dict[tuple[str, int, str], ToolCallLog], moment: str | None
) -> list[Message]:
    spoken = Message(
        role=message.role,
        content=message.content,
        tool_calls=message.tool_calls,
        provider_data=message.provider_data,
    )
    answers = [_result(call.id, results.get((message.run_id, message.round, call.id))) for call in message.tool_calls]
    if moment and answers:
        answers[-1] = answers[-1].model_copy(update={"content": f"{answers[-1].content}\n\n{moment}"})
    return [spoken, *answers]


def _result(call_id: str, log: ToolCallLog | None) -> Message:
    """Return what a call came to: our own notices as they stand, everything a tool said as data."""
    if log is None or log.status == "requested":
        return Message(role="tool", tool_call_id=call_id, content=NOT_RUN, is_error=True)
    if log.status in {"claimed", "unknown"}:
        return Message(role="tool", tool_call_id=call_id, content=OUTCOME_UNKNOWN, is_error=True)
    said = log.result or ""
    content = said if said == NOT_ALLOWED else as_data(log.name, said)
    return Message(role="tool", tool_call_id=call_id, content=content, is_error=log.status == "failed")


def repair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Make a history valid for every provider (AG-12): merge neighbours, resolve orphans, merge again, mend the ends.

    Whatever was said or came of a call stays. The identity on valid histories.
    """
    return _between_users(_merge(_resolve_orphans(_merge(messages))))


def _merge(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Join neighbouring messages of one role; providers want user and assistant to take turns, and to say something."""
    merged: list[Message] = []
    for message in messages:
        if message.role in {"user", "assistant"} and not _says_something(message):
            continue
        if merged and merged[-1].role == message.role and message.role in {"user", "assistant"}:
            merged[-1] = _join(merged[-1], message)
        else:
            merged.append(message)
    return tuple(merged)


def _says_something(message: Message) -> bool:
    return bool(message.content.strip() or message.tool_calls or message.images)


def _join(first: Message, second: Message) -> Message:
    """Return two messages as one; what a provider wants back untouched is not kept, since it holds one of them only."""
    return Message(
        role=first.role,
        content="\n\n".join(text for text in (first.content, second.content) if text),
        tool_calls=first.tool_calls + second.tool_calls,
        images=first.images + second.images,
    )


def _resolve_orphans(messages: Sequence[Message]) -> list[Message]:
    """Drop results without their call; give calls without a result the result "outcome unknown".

    A call whose id was used before gets another one: providers refuse a history with an id twice.
    """
    resolved: list[Message] = []
    taken: set[str] = set()
    for position, message in enumerate(messages):
        if message.role == "tool":
            continue  # taken along with the call it answers
        answers = _answers_after(messages, position)
        ids = [_take_unused(call.id, taken) for call in message.tool_calls]
        resolved.append(_with_ids(message, ids))
        for call, new_id in zip(message.tool_calls, ids, strict=True):
            answer = next(answers.get(call.id, iter(())), _UNKNOWN)
            is_its_own = answer.tool_call_id == new_id
            resolved.append(answer if is_its_own else answer.model_copy(update={"tool_call_id": new_id}))
    return resolved


def _with_ids(message: Message, ids: list[str]) -> Message:
    if ids == [call.id for call in message.tool_calls]:
        return message
    calls = [call.model_copy(update={"id": id}) for call, id in zip(message.tool_calls, ids, strict=True)]
    return message.model_copy(update={"tool_calls": tuple(calls)})


def _answers_after(messages: Sequence[Message], position: int) -> dict[str, Iterator[Message]]:
    """Return the tool results that directly follow a message, by the id of the call they answer."""
    answers: dict[str, list[Message]] = {}
    following = (messages[place] for place in range(position + 1, len(messages)))
    for message in takewhile(lambda message: message.role == "tool", following):
        answers.setdefault(message.tool_call_id or "", []).append(message)
    return {call_id: iter(results) for call_id, results in answers.items()}


def _take_unused(call_id: str, taken: set[str]) -> str:
    unused = next(id for id in chain([call_id], (f"{call_id}_{n}" for n in count(2))) if id not in taken)
    taken.add(unused)
    return unused


def _between_users(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Let a user's message begin and end the history where an assistant's does: not every provider takes that."""
    start = next((place for place, message in enumerate(messages) if message.role != "system"), len(messages))
    before = (_BEFORE,) if start < len(messages) and messages[start].role == "assistant" else ()
    after = (_GO_ON,) if messages and messages[-1].role == "assistant" else ()
    return (*messages[:start], *before, *messages[start:], *after)
