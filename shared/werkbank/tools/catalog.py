"""Every tool there is, by toolbox (TB-02)."""

from werkbank.tools import documents, files, loop
from werkbank.tools.registry import Registry

TOOLS = (
    files.list_files,
    files.read_file,
    files.search_in_file_content,
    files.search_files,
    files.write_file,
    documents.browse_container,
    documents.read_content_objects,
    loop.request_more_iterations,
)


def core_registry() -> Registry:
    """Return the registry of the toolbox every run starts with."""
    return Registry(tool for tool in TOOLS if tool.toolbox == "core")
