"""Every tool there is, by toolbox (TB-02)."""

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
    """Return all tools; the one that needs a search provider only where there is one."""
    offered = (tool for tool in TOOLS if can_search_web or tool is not web.web_search)
    return Registry(offered, request_toolbox)
