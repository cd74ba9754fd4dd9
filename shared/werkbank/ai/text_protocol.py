"""Tools for models that take none (AG-02): the prompt says how to write a call, the answer's text is searched for some.

The conversation keeps its calls and results as they are; only what such a model gets and gives is put into words, so
that another model can go on at any time.
"""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby

from werkbank.ai.call_blocks import call_block, disarmed, read_calls, result_block
from werkbank.ai.model import Model
from werkbank.ai.pricing import is_free
from werkbank.ai.protocols import ChatProvider, ChatRequest, Delta, StreamEnd
from werkbank.ai.tokens import estimate_usage
from werkbank.domain.messages import Message, ToolDefinition

_MANUAL = f"""\
Calling tools
To call a tool, write a block of exactly this form, its arguments as one JSON object:

{call_block("nameOfTheTool", '{"argument": "value"}')}

- Several blocks, one right after the other, are several calls. What you want to say before them stands before them.
- End your message behind the last block. The next message brings the results, one <werkbank_result> block for each \
call, in the order of the calls. Never write a result yourself, and say nothing about results you have not seen.
- To answer without a tool, write the answer, with no such block in it.

The tools, and the JSON Schema of each one's arguments:"""
_NO_MORE_CALLS = "(Answer in words: calls are no longer carried out.)"


class TextProtocol:
    """A `ChatProvider` around one whose models take no tools."""

    def __init__(self, provider: ChatProvider) -> None:
        self._provider = provider

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer's deltas with its calls as calls. Raises what the provider raises.

        A model that costs nothing, on a server of one's own, is not waited for while it makes up results. Any other is:
        its usage comes last, and only that tells what is paid for, hidden reasoning included.
        """
        told = in_words(request)

        def cut_off(came: str) -> StreamEnd:
            return StreamEnd(estimate_usage(told, came), "stop")

        with closing(self._provider.stream_chat(model, told, timeout_seconds)) as deltas:
            yield from read_calls(deltas, request.may_call_tools, cut_off if is_free(model) else None)


def in_words(request: ChatRequest) -> ChatRequest:
    """Return the request with its tools, calls and results as text; the same beginning gives the same text (AG-15)."""
    messages = request.messages
    head = next((place for place, message in enumerate(messages) if message.role != "system"), len(messages))
    system = "\n\n".join([*(message.content for message in messages[:head]), _described(request.tools)])
    told = list(_told(messages[head:]))
    if not request.may_call_tools:
        told.append(Message(role="user", content=_NO_MORE_CALLS))
    return replace(request, messages=(Message(role="system", content=system), *_merged(told)), tools=())


def _described(tools: Sequence[ToolDefinition]) -> str:
    described = (
        f"{tool.name}: {tool.description}\n{json.dumps(tool.parameters, ensure_ascii=False)}" for tool in tools
    )
    return "\n\n".join([_MANUAL, *described])


def _told(messages: Sequence[Message]) -> Iterator[Message]:
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    for message in messages:
        if message.role == "tool":
            block = result_block(names.get(message.tool_call_id or "", ""), message.content, message.is_error)
            yield Message(role="user", content=block, images=message.images)
        else:
            blocks = [call_block(call.name, call.arguments) for call in message.tool_calls]
            said = [disarmed(message.content)] if message.content or not blocks else []
            yield Message(role=message.role, content="\n\n".join([*said, *blocks]), images=message.images)


def _merged(messages: Iterable[Message]) -> Iterator[Message]:
    """Join what stands together on the user's side: results, and what is said after them."""
    for is_users, group in groupby(messages, key=lambda message: message.role == "user"):
        if not is_users:
            yield from group
            continue
        together = list(group)
        yield Message(
            role="user",
            content="\n\n".join(message.content for message in together),
            images=tuple(image for message in together for image in message.images),
        )
