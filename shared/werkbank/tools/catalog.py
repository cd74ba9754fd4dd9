"""Every tool there is, by toolbox (TB-02)."""

from werkbank.domain.runs import CORE, WEB
from werkbank.tools import documents, files, loop, web
from werkbank.tools.registry import Registry
from werkbank.tools.toolboxes import request_toolbox

TOOLS = (
    files.list_files,
    files.read_file,
    files.search_in_file_content,
    files.search_files,
    files.write_file,
    documents.browse_container,
    documents.read_content_objects,
    loop.request_more_iterations,
    web.web_search,
    web.read_url,
)


def registry(*, can_search_web: bool) -> Registry:
    """Return all tools. With a search provider the web is open from the start (WS-07); without, it can be asked for."""
    if can_search_web:
        return Registry(TOOLS, request_toolbox, initial=(CORE, WEB))
    return Registry((tool for tool in TOOLS if tool is not web.web_search), request_toolbox)
