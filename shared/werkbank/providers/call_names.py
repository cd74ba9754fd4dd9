"""Names and ids of tool calls as a provider takes them.

A history may hold another provider's ids and names that a model made up; one that breaks the pattern would have every
later request refused.
"""

import hashlib
import re

_NAME_LENGTH = 64


def allowed_name(name: str) -> str:
    """Return the tool's name in the characters and the length that all providers take."""
    return re.sub("[^A-Za-z0-9_-]", "_", name)[:_NAME_LENGTH] or "unnamed"


def allowed_id(call_id: str | None, pattern: str, length: int = 32) -> str:
    """Return the id if it fits the pattern, else `length` letters and digits that always stand for it."""
    known = call_id or ""
    if re.fullmatch(pattern, known):
        return known
    return hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:length]
