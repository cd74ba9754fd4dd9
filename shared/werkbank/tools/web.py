"""Tools on the web (TB-07): search for facts, read a page. What they return outranks what a model remembers (WS-01)."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from werkbank.domain.errors import ToolError
from werkbank.domain.runs import WEB
from werkbank.tools.addresses import is_known, named_in
from werkbank.tools.context import ToolContext
from werkbank.tools.effects import Effect
from werkbank.tools.registry import tool

UNKNOWN_ADDRESS = (
    "Neither the user nor a web search of this question has named this address, so it is neither opened nor searched "
    "for. Search for the page by what it is about, or ask the user to write the address."
)


@tool(toolbox=WEB, read_only=True, effects={Effect.SEND, Effect.SPEND})
def web_search(
    context: ToolContext,
    query: Annotated[
        str,
        Field(
            min_length=2,
            max_length=400,
            description="What to find, standing alone: names instead of pronouns, in the user's language.",
        ),
    ],
) -> str:
    """Search the web for facts that may have changed: people in office, prices, news, weather, hours, timetables.

    Use it whenever the answer depends on the present; what you remember may be out of date. Returns facts and numbered
    pages that can be cited. They are newer than what you know and outrank it.
    """
    _refuse_unknown(context, named_in(query))  # a search service may visit what it is asked about
    return context.web.search_block(context.run, query, tells=context.is_first_of_its_tool)


@tool(toolbox=WEB, read_only=True, effects={Effect.SEND})
def read_url(
    context: ToolContext,
    url: Annotated[str, Field(min_length=8, max_length=2_000, description="A public address, http:// or https://.")],
    part: Annotated[int, Field(ge=1, le=500, description="Long pages come in parts, counted from 1.")] = 1,
) -> str:
    """Read the main text of a public web page or PDF; returns a numbered passage that can be cited.

    Only for addresses that webSearch has found for this question or that the user wrote in this conversation.
    """
    _refuse_unknown(context, [url])
    return context.web.page_block(context.run, url, part)


def _refuse_unknown(context: ToolContext, addresses: Sequence[str]) -> None:
    """Raise ToolError if one of the addresses is of the model's own making, unless the user has allowed this call."""
    if context.approved or not addresses:
        return
    with context.database.session(context.principal) as session:
        sources = session.citations.of_run(context.run.id)
        said = session.messages.of_workflow(context.run.workflow_id) if context.run.workflow_id else ()
    found = [source.url for source in sources if source.url and "redirectedFrom" not in source.ref]
    written = [message.content for message in said if message.role == "user" and message.trusted]
    if not all(is_known(address, found, written) for address in addresses):
        raise ToolError(UNKNOWN_ADDRESS)
