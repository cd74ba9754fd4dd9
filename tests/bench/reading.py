"""How much longer extracting and chunking a PDF takes than having MuPDF read its pages."""

import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measuring import Figure, ratio, taking_turns
from werkbank.documents.chunking import chunk_document
from werkbank.documents.extract import extract_document

_BOOK = Path(__file__).parents[3] / "shared" / "data" / "pdf" / "GeoTopo-komprimiert.pdf"
_TIMES = 7


def figures() -> Iterator[Figure]:
    """Measure; nothing without the book."""
    name = "Extraction and chunking of GeoTopo"
    if not _BOOK.exists():
        yield Figure(name, f"not measured: {_BOOK} is missing", "≤ 1.5×", "–")
        return
    data = _BOOK.read_bytes()
    taken = taking_turns(_TIMES, {"ours": lambda: _ours(data), "bare": lambda: _bare(data)})
    how = f'bare `page.get_text("dict")` over the same 117 pages; {_TIMES} times each'
    yield Figure(name, ratio(taken["ours"], taken["bare"]), "≤ 1.5×", how)


def _ours(data: bytes) -> float:
    begun = time.perf_counter()
    assert chunk_document(extract_document(data, _BOOK.name))
    return (time.perf_counter() - begun) * 1_000


def _bare(data: bytes) -> float:
    import fitz  # type: ignore[import-untyped]

    begun = time.perf_counter()
    with fitz.open(stream=data, filetype="pdf") as document:
        for page in document:
            page.get_text("dict")
    return (time.perf_counter() - begun) * 1_000
