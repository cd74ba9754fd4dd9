"""The tool that asks for more tools (TB-03)."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from werkbank.tools.context import ToolContext
from werkbank.tools.registry import REQUEST_TOOLBOX, Tool, tool

DESCRIPTIONS = {"web": "search the web and read its pages"}


def request_toolbox(inactive: Iterable[str], closed: Iterable[str] = ()) -> Tool:
    """Return the tool that offers the inactive toolboxes, and no others; the closed ones it only names.

    It waits for the user: a toolbox can open a way out of the workspace, and texts inside it may want just that.
    """
    names = sorted(inactive)
    boxes = ", ".join(f"{name} ({DESCRIPTIONS[name]})" if name in DESCRIPTIONS else name for name in names)

    def handler(
        context: ToolContext,
        toolbox_id: Annotated[Literal[tuple(names)], Field(description="The toolbox.")],  # type: ignore[valid-type]
        reason: Annotated[str, Field(min_length=5, max_length=500, description="What for, for the user to decide on.")],
    ) -> str:
        with context.database.session(context.principal) as session:
            session.runs.grant_toolbox(context.run.id, toolbox_id)
        return f"The toolbox {toolbox_id} is open: its tools are offered from now on."

    handler.__doc__ = f"Ask the user for another toolbox: {boxes}. Its tools are offered in the next round."
    if off := ", ".join(sorted(closed)):
        handler.__doc__ += f" Switched off in the settings, so not to be had: {off}."
    return tool(name=REQUEST_TOOLBOX, safe_to_repeat=True, needs_confirmation=True)(handler)
