"""Vectors as pgvector reads them."""

from collections.abc import Sequence


def as_vector(values: Sequence[float]) -> str:
    """Return pgvector's text form; 8 digits keep all of a 32-bit float that matters to a distance."""
    return "[" + ",".join(f"{value:.8g}" for value in values) + "]"
