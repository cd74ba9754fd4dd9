"""Identifiers. Text everywhere: mandate and user ids come from the identity provider, ours are UUIDs."""

import uuid

_NAMESPACE = uuid.UUID("6f2f0a52-6f7a-4f0e-9a55-1f1f5f6f7a10")


def new_id() -> str:
    """Return a new random UUID."""
    return str(uuid.uuid4())


def derived_id(*parts: str) -> str:
    """Return the UUID that these parts always give, so that a repeated request names the same thing."""
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join(parts)))


def is_id(text: str) -> bool:
    """Tell whether the text is a UUID in canonical form, as all ids of ours are."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
