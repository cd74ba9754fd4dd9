"""The same agent in LangGraph with its Postgres checkpointer, in the two forms it is built in.

`prebuilt` is LangGraph's own agent (`create_react_agent`, each tool call a task of its own) around a chat model of
LangChain's interface. `bare` is the least a graph can be: a function that appends a message, a function that answers a
call, no tool schema, no check of arguments, no chat model.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import create_react_agent
from langgraph.types import Send

from werkbank.domain.ids import new_id
from werkbank.domain.messages import ToolCall

Answer = Sequence[str | ToolCall]
# Each answer and each tool result is written before the next step begins, as it is on our side.
_DURABILITY = "sync"
_STEPS = 1_000


class ScriptedChat(BaseChatModel):
    """A chat model that streams the answers it was given, without delay."""

    answers: Any  # an iterator; pydantic would copy anything it knows

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **settings: Any) -> Runnable[LanguageModelInput, AIMessage]:
        return self

    def _generate(self, *args: Any, **settings: Any) -> ChatResult:
        raise NotImplementedError("it streams")

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **settings: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for index, piece in enumerate(next(self.answers)):
            if isinstance(piece, str):
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
            else:
                call = {"index": index, "id": piece.id, "name": piece.name, "args": piece.arguments}
                yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))


class State(TypedDict):
    """The state of the bare graph."""

    messages: Annotated[list[AnyMessage], add_messages]


def prebuilt(saver: PostgresSaver, answers: Sequence[Answer], look_up: Callable[[str], str]) -> Callable[[], None]:
    """Return a run of LangGraph's own agent, ready to start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it moved to the langchain package, which is a thin layer over the same graph
        graph = create_react_agent(ScriptedChat(answers=iter(answers)), [look_up], checkpointer=saver)
    return lambda: _stream(graph, ["messages", "updates"])


def bare(saver: PostgresSaver, answers: Sequence[Answer], result: str) -> Callable[[], None]:
    """Return a run of the least graph, ready to start."""
    script = iter(answers)

    def model(state: State) -> dict[str, list[AIMessage]]:
        answer = next(script)
        write = get_stream_writer()
        texts = [piece for piece in answer if isinstance(piece, str)]
        for text in texts:
            write(text)
        calls = [
            {"id": piece.id, "name": piece.name, "args": {"query": piece.arguments}}
            for piece in answer
            if isinstance(piece, ToolCall)
        ]
        return {"messages": [AIMessage("".join(texts), tool_calls=calls)]}

    def tools(call: dict[str, Any]) -> dict[str, list[ToolMessage]]:
        return {"messages": [ToolMessage(result, tool_call_id=call["id"])]}

    def following(state: State) -> list[Send] | str:
        return [Send("tools", call) for call in getattr(state["messages"][-1], "tool_calls", [])] or END

    builder = StateGraph(State)
    builder.add_node("model", model)
    builder.add_node("tools", tools)  # type: ignore[arg-type]  # what Send hands over is not the state
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", following, ["tools", END])
    builder.add_edge("tools", "model")
    graph = builder.compile(checkpointer=saver)
    return lambda: _stream(graph, ["custom", "updates"])


def _stream(graph: Any, modes: list[str]) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": new_id()}, "recursion_limit": _STEPS}
    question = {"messages": [HumanMessage("What is in my files?")]}
    for _ in graph.stream(question, config, stream_mode=modes, durability=_DURABILITY):
        pass
