"""The offline model: no network, no weights, the same answer every time.

It plans one tool call by rule when a turn begins, then answers from what came back by quoting the best sentences with
their source numbers. Tool results and passages are read as data only: nothing in them is ever taken for a request. What
came in from outside is searched for in the files, and nothing else that it asks for is done.
"""

import re
from collections.abc import Generator, Sequence
from itertools import chain

from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatRequest, Delta, StreamEnd, TextDelta, ToolCallDelta
from werkbank.ai.tokens import estimate_usage
from werkbank.domain.ids import derived_id
from werkbank.domain.marking import data_in, message_from_outside, without_data
from werkbank.domain.messages import Message, ToolCall
from werkbank.domain.passages import Passage, parse_passages
from werkbank.providers.internal.phrases import phrases_for
from werkbank.providers.internal.planning import plan_call
from werkbank.providers.internal.quoting import asked_in, best_quotes, summary_sentences

_CONTEXT_BLOCK = re.compile(r"<context>\n.*?\n</context>", re.DOTALL)
_WORD_WITH_SPACE = re.compile(r"\S+\s*|\s+")
# A user text longer than this without any source is material to sum up, not a question.
_MATERIAL_CHARACTERS = 600
_SUMMARY_SENTENCES = 6
_SHOWN_LINES = 40
_SHOWN_TOPIC_CHARACTERS = 200
_SEARCH_TOOL = "searchFiles"
_LONGEST_QUERY = 1_000


class InternalChat:
    """A `ChatProvider` of the Internal provider."""

    def stream_chat(self, model: Model, request: ChatRequest, timeout_seconds: float) -> Generator[Delta, None, None]:
        """Yield the answer word by word; never fails and takes milliseconds."""
        turn = _Turn(request.messages)
        call = self._planned_call(request, turn)
        if call is not None:
            yield ToolCallDelta(0, call.id, call.name, call.arguments)
            yield _end(request, call.arguments, is_call=True)
            return
        answer = turn.answer()
        for word in _WORD_WITH_SPACE.findall(answer):
            yield TextDelta(word)
        yield _end(request, answer, is_call=False)

    def _planned_call(self, request: ChatRequest, turn: "_Turn") -> ToolCall | None:
        if not request.may_call_tools or turn.results:
            return None
        tools = [tool for tool in request.tools if tool.name == _SEARCH_TOOL or not turn.is_from_outside]
        planned = plan_call(turn.question, turn.context, tools)
        if planned is None:
            return None
        name, arguments = planned
        return ToolCall(id=derived_id("offline", turn.question, name), name=name, arguments=arguments)


class _Turn:
    """The present question, what was handed along with it, and what tools have said since."""

    def __init__(self, messages: Sequence[Message]) -> None:
        start = _question_position(messages)
        asked = messages[start].content if start is not None else ""
        outside, handed = message_from_outside(asked)
        said = _CONTEXT_BLOCK.sub("", handed)
        own = without_data(said).strip() if outside is None else outside
        self.is_from_outside = outside is not None
        self.question = own if outside is None else asked_in(outside)[:_LONGEST_QUERY]
        self.material = "\n\n".join([own, *data_in(said)])
        self.context = "\n".join(_CONTEXT_BLOCK.findall(handed))
        after = messages[start + 1 :] if start is not None else messages
        self.results = [message for message in after if message.role == "tool"]
        self._tool_names = {call.id: call.name for message in after for call in message.tool_calls}
        self._handed = [handed, *(message.content for message in messages if message.role == "system")]
        self._phrases = phrases_for(self.question)

    def answer(self) -> str:
        """Return the answer from what is at hand: a plain result, quotes, a summary, or that there is nothing."""
        shown = self._plain_result()
        if shown:
            return shown
        quotes = best_quotes(self.question, self._passages())
        if quotes:
            lines = "\n".join(f"> {quote.sentence} [{quote.number}]" for quote in quotes)
            return f"{self._phrases.quoting}\n\n{lines}"
        if not self.results and len(self.material) > _MATERIAL_CHARACTERS:
            return "\n".join(f"- {line}" for line in summary_sentences(self.material, _SUMMARY_SENTENCES))
        topic = " ".join(self.question.split())[:_SHOWN_TOPIC_CHARACTERS]
        return self._phrases.nothing.format(topic=topic)

    def _passages(self) -> tuple[Passage, ...]:
        found: dict[int, Passage] = {}
        for text in (*(result.content for result in self.results if not result.is_error), *self._handed):
            for passage in chain.from_iterable(map(parse_passages, _blocks(text))):
                found.setdefault(passage.number, passage)
        return tuple(found.values())

    def _plain_result(self) -> str:
        """Return the last result that is no search's, cut to a readable length: lists, outlines, confirmations."""
        for result in reversed(self.results):
            tool = self._tool_names.get(result.tool_call_id or "", "")
            shown = "\n\n".join(_blocks(result.content)).strip()
            if tool == _SEARCH_TOOL or parse_passages(shown) or not shown:
                continue
            lines = shown.splitlines()
            more = [] if len(lines) <= _SHOWN_LINES else ["…"]
            return "\n".join([self._phrases.result.format(tool=tool), "", *lines[:_SHOWN_LINES], *more])
        return ""


def _blocks(text: str) -> tuple[str, ...]:
    """Return the data in a text, block by block; the text itself when nothing in it is marked."""
    return data_in(text) or (text,)


def _question_position(messages: Sequence[Message]) -> int | None:
    """Find the user's question: the last user message that is no reminder behind tool results."""
    for position in reversed(range(len(messages))):
        follows_result = position > 0 and messages[position - 1].role == "tool"
        if messages[position].role == "user" and not follows_result:
            return position
    return None


def _end(request: ChatRequest, answer: str, *, is_call: bool) -> StreamEnd:
    return StreamEnd(estimate_usage(request, answer), "tool_calls" if is_call else "stop")
