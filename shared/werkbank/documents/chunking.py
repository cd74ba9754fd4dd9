"""Cuts a document into passages that are embedded, searched and cited (KS-03)."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from werkbank.documents.sentences import split_sentences
from werkbank.domain.documents import Chunk, ContentObject, ExtractedDocument

MAX_TOKENS = 512
# No tokenizer: common vocabularies give 3.3 to 4.2 UTF-8 bytes a token for German and English prose, and about 2.5 to
# 3.5 for other scripts. Counting bytes keeps the estimate sane for all of them.
BYTES_PER_TOKEN = 3.5
_MAX_BYTES = int(MAX_TOKENS * BYTES_PER_TOKEN)
_PARAGRAPH_END = re.compile(r"\n\s*\n|\n")
_WORD = re.compile(r"\S+\s*|\s+")


def count_tokens(text: str) -> int:
    """Estimate the tokens of `text`; within about 15 % of common vocabularies for prose."""
    return round(_size(text) / BYTES_PER_TOKEN + 0.5)


def chunk_document(document: ExtractedDocument) -> tuple[Chunk, ...]:
    """Return the passages of a document in reading order, each of at most about 512 tokens.

    A passage stays within one page and section, so that its reference is right; small neighbours are joined, long
    texts end at sentences, and each part of a long table repeats the header. No word is lost.
    """
    chunks: list[Chunk] = []
    texts = (item for item in document.objects if item.content_type == "text" and item.data.strip())
    for _, group in groupby(texts, key=_place):
        for text, source in _passages(group):
            chunks.append(
                Chunk(
                    sequence=len(chunks),
                    object_sequence=source.sequence,
                    text=text,
                    ref=source.ref,
                    token_count=count_tokens(text),
                )
            )
    return tuple(chunks)


def _place(item: ContentObject) -> tuple[object, ...]:
    """What a citation names: objects that differ in it must not share a passage."""
    ref = item.ref
    return ref.container_path, ref.page_index, ref.section_id, ref.sheet_name, ref.slide_index


def _passages(items: Iterable[ContentObject]) -> Iterator[tuple[str, ContentObject]]:
    held: list[ContentObject] = []
    held_bytes = 0
    for item in items:
        size = _size(item.data) + 2
        if held and held_bytes + size > _MAX_BYTES:
            yield "\n\n".join(one.data.strip() for one in held), held[0]
            held, held_bytes = [], 0
        if size > _MAX_BYTES:
            parts = _split_table(item.data) if item.metadata.get("kind") == "table" else _split_text(item.data)
            yield from ((part, item) for part in parts)
        else:
            held.append(item)
            held_bytes += size
    if held:
        yield "\n\n".join(one.data.strip() for one in held), held[0]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _split_text(text: str) -> list[str]:
    return _pack(_pieces(text.strip(), _MAX_BYTES), _size(text))


def _split_table(markdown: str) -> list[str]:
    header, _, body = markdown.partition("\n")
    rule, _, body = body.partition("\n")
    head = f"{header}\n{rule}\n"
    room = _MAX_BYTES - _size(head)
    if room < _MAX_BYTES // 3 or not rule.startswith("|"):  # a header that would fill the passages helps nobody
        return _split_text(markdown)
    rows = [piece for row in body.splitlines(keepends=True) for piece in _pieces(row, room)]
    return [head + part for part in _pack(rows, _size(body), room)]


def _pieces(text: str, room: int) -> list[str]:
    """Cut `text` into pieces of at most `room` bytes: at paragraphs, else sentences, else words, else anywhere."""
    if _size(text) <= room:
        return [text]
    for split in (_paragraphs, split_sentences, _WORD.findall):
        parts = split(text)
        if len(parts) > 1:
            return [piece for part in parts for piece in _pieces(part, room)]
    step = max(1, room // 4)  # a character has at most four bytes
    return [text[start : start + step] for start in range(0, len(text), step)]


def _paragraphs(text: str) -> list[str]:
    ends = [match.end() for match in _PARAGRAPH_END.finditer(text)]
    starts = [0, *ends]
    return [part for start, end in zip(starts, [*ends, len(text)], strict=True) if (part := text[start:end])]


def _pack(pieces: list[str], total: int, room: int = _MAX_BYTES) -> list[str]:
    """Join neighbouring pieces into passages of about equal size, none above `room`, so that no sliver is left over."""
    target = total / -(-total // room) if total else room
    passages: list[str] = []
    held, held_bytes = "", 0
    for piece in pieces:
        size = _size(piece)
        if held and (held_bytes + size > room or held_bytes + size / 2 > target):
            passages.append(held)
            held, held_bytes = "", 0
        held += piece
        held_bytes += size
    passages.append(held)
    return [stripped for passage in passages if (stripped := passage.strip())]
