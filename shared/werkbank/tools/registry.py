"""The registry: a tool is a typed function; its schema, checks and flags come from the signature and the decorator."""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic.alias_generators import to_camel

from werkbank.domain.errors import ToolError
from werkbank.domain.messages import ToolCall, ToolDefinition
from werkbank.domain.runs import CORE, Run
from werkbank.tools.arguments import Arguments, arguments_model, checked
from werkbank.tools.context import ToolContext
from werkbank.tools.effects import Effect
from werkbank.tools.nearest import nearest

Handler = Callable[..., str]
REQUEST_TOOLBOX = "requestToolbox"
_MAX_NAMED = 30


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `read_only` calls may run side by side; `safe_to_repeat` ones may run again after a crash.

    Calls of a tool that `needs_confirmation` wait for the user's consent, for days if need be (AG-24); those of one
    with `effects` do where something else than the user's words started the run (AG-16).
    """

    name: str
    description: str
    toolbox: str
    read_only: bool
    safe_to_repeat: bool
    needs_confirmation: bool
    effects: frozenset[Effect]
    arguments: type[Arguments]
    handler: Handler

    def waits(self, run: Run) -> bool:
        """Tell whether calls have to wait for consent: the one place where that is decided."""
        return self.needs_confirmation or bool(self.effects and not run.trusted)

    def definition(self) -> ToolDefinition:
        """Return the tool as it is offered to a model."""
        schema = self.arguments.model_json_schema(by_alias=True)
        schema.pop("title", None)
        for field in schema.get("properties", {}).values():
            field.pop("title", None)
        return ToolDefinition(name=self.name, description=self.description, parameters=schema)

    def call(self, context: ToolContext, arguments: str) -> str:
        """Check the arguments (JSON text, hostile) and run the handler. Raises ToolError naming what is wrong."""
        return self.handler(context, **checked(self.name, self.arguments, arguments))


def tool(
    *,
    name: str | None = None,
    toolbox: str = CORE,
    read_only: bool = False,
    safe_to_repeat: bool = False,
    needs_confirmation: bool = False,
    effects: Iterable[Effect] = (),
) -> Callable[[Handler], Tool]:
    """Make a tool of a function `(context, …typed arguments) -> text`; its docstring is what the model reads.

    Its name is the function's in camelCase unless another one is given.
    """

    def decorate(handler: Handler) -> Tool:
        return Tool(
            name=name or to_camel(handler.__name__),
            description=inspect.cleandoc(handler.__doc__ or ""),
            toolbox=toolbox,
            read_only=read_only,
            safe_to_repeat=read_only or safe_to_repeat,
            needs_confirmation=needs_confirmation,
            effects=frozenset(effects),
            arguments=arguments_model(handler),
            handler=handler,
        )

    return decorate


class Registry:
    """Tools by name: all there are, or those of a run's active toolboxes."""

    def __init__(
        self,
        tools: Iterable[Tool],
        request_toolbox: Callable[[Iterable[str], Iterable[str]], Tool] | None = None,
        initial: Iterable[str] = (CORE,),
        absent: Mapping[str, str] | None = None,
    ) -> None:
        """`initial` toolboxes are active; `request_toolbox` makes the tool that asks for others and names closed ones.

        `absent` are names that may be called but are not there, with a sentence that says why.
        """
        self._tools = {tool.name: tool for tool in tools}
        self._request_toolbox = request_toolbox
        self._initial = frozenset(initial)
        self._absent = absent or {}
        self._definitions = tuple(self._tools[name].definition() for name in sorted(self._tools))
        self._narrowed: dict[tuple[frozenset[str], frozenset[str]], Registry] = {}

    def active(self, toolboxes: Iterable[str], closed: frozenset[str] = frozenset()) -> "Registry":
        """Return the tools of the toolboxes every run has and of these; what is not active is not there (TB-02).

        What is `closed` is never active, and cannot be asked for (WS-07).
        """
        wanted = self._initial.union(toolboxes) - closed
        if (wanted, closed) not in self._narrowed:
            self._narrowed[wanted, closed] = self._narrow(wanted, closed)
        return self._narrowed[wanted, closed]

    def _narrow(self, wanted: frozenset[str], closed: frozenset[str]) -> "Registry":
        offered = [tool for tool in self._tools.values() if tool.toolbox in wanted]
        absent = {
            tool.name: _switched_off(tool.name, tool.toolbox) for tool in self._tools.values() if tool.toolbox in closed
        }
        inactive = {tool.name: tool.toolbox for tool in self._tools.values() if tool.toolbox not in wanted | closed}
        if inactive and self._request_toolbox:
            offered.append(self._request_toolbox(set(inactive.values()), closed))
            absent |= {name: _not_open(name, toolbox) for name, toolbox in inactive.items()}
        elif absent:
            absent[REQUEST_TOOLBOX] = _switched_off(REQUEST_TOOLBOX, ", ".join(sorted(closed)))
        else:
            absent[REQUEST_TOOLBOX] = "There is no other toolbox to ask for. Go on with the tools that are offered."
        return Registry(offered, absent=absent)

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return all tools as offered to a model, always in the same order so that the cached prompt stays the same."""
        return self._definitions

    def get(self, name: str) -> Tool:
        """Return a tool. Raises ToolError saying why it is not there, or naming the nearest valid names (AG-10)."""
        if name in self._tools:
            return self._tools[name]
        if name in self._absent:
            raise ToolError(self._absent[name])
        near = nearest(name, [*self._tools, *self._absent])
        if near:
            hint = f"Did you mean {', '.join(near)}? {self._absent.get(near[0], '')}"
        elif len(self._tools) <= _MAX_NAMED:
            hint = f"The tools are {', '.join(sorted(self._tools))}."
        else:
            hint = "Use one of the offered tools."
        raise ToolError(f"There is no tool “{name[:80]}”. {hint.strip()}")

    def is_read_only(self, name: str) -> bool:
        """Tell whether a call may run beside others; calls of unknown tools only give an error, so they may."""
        return name not in self._tools or self._tools[name].read_only

    def waiting(self, calls: Iterable[ToolCall], run: Run) -> frozenset[str]:
        """Return the ids of the calls that have to wait for consent; those of unknown tools only give an error."""
        return frozenset(call.id for call in calls if call.name in self._tools and self._tools[call.name].waits(run))

    def batches(self, calls: Sequence[ToolCall], waiting: Collection[str] = ()) -> tuple[tuple[str, ...], ...]:
        """Group calls, in the model's order: neighbouring read-only ones together, every other one alone (AG-05).

        `waiting` are the ids of those that wait for consent.
        """
        batches: list[list[str]] = []
        previous_reads = False
        for call in calls:
            # A call that waits would hold up those beside it.
            reads = self.is_read_only(call.name) and call.id not in waiting
            if reads and previous_reads:
                batches[-1].append(call.id)
            else:
                batches.append([call.id])
            previous_reads = reads
        return tuple(tuple(batch) for batch in batches)


def _switched_off(name: str, toolbox: str) -> str:
    return (
        f"{name} is not to be had: the toolbox {toolbox} is switched off in the settings of the user or their "
        "organisation. Go on without it; if the question needs it, say so and name the settings."
    )


def _not_open(name: str, toolbox: str) -> str:
    return (
        f"{name} belongs to the toolbox {toolbox}, which is not open yet. Ask for it with {REQUEST_TOOLBOX}; "
        "its tools are offered in the round after."
    )
