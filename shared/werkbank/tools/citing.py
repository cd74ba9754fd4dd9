"""Gives what a tool reads a number to cite it by: one source per page, sheet or section."""

from collections.abc import Iterable, Sequence

from werkbank.domain.documents import ContentObject
from werkbank.domain.files import FileItem
from werkbank.domain.ids import derived_id
from werkbank.domain.passages import Passage, format_passages
from werkbank.domain.runs import Source
from werkbank.tools.context import ToolContext

_QUOTE_CHARACTERS = 500


def cite_pages(context: ToolContext, item: FileItem, excerpts: Iterable[tuple[ContentObject, str]]) -> str:
    """Return excerpts as numbered passages, those of one place together."""
    places: dict[str, list[tuple[ContentObject, str]]] = {}
    for part, text in excerpts:
        places.setdefault(part.ref.describe(), []).append((part, text))
    sources = [_source(item, place, found) for place, found in places.items()]
    with context.database.session(context.principal) as session:
        numbers = session.citations.number(context.run.id, sources)
    return format_passages(
        [
            Passage(number=number, place=place, text="\n\n".join(text for _, text in found))
            for number, (place, found) in zip(numbers, places.items(), strict=True)
        ]
    )


def _source(item: FileItem, place: str, found: Sequence[tuple[ContentObject, str]]) -> Source:
    return Source(
        chunk_id=derived_id("place", item.id, place), file_id=item.id, file_name=item.file_name, place=place,
        quote=found[0][1][:_QUOTE_CHARACTERS], ref=dict(found[0][0].ref.to_wire()),
    )  # fmt: skip
