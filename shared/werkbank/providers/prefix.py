"""Tells whether an answer still stands behind what its model saw, so that its thinking may go back.

Claude signs its thinking for all that came before it: system text, tools and messages. Behind anything else, such as a
summary in the place of earlier rounds, it has the request refused, and so it does where earlier thinking was left out
(https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks). There is a parameter that has
it dropped instead, but it is a beta, goes by another name on Bedrock, and servers in between refuse it.
"""

import hashlib
import json
from collections.abc import Mapping

from pydantic import JsonValue


class Prefix:
    """The fingerprint of a prompt while it is put together from a provider's blocks, cache marks left out."""

    def __init__(self, *head: object) -> None:
        self._hash = hashlib.sha256()
        self.add(*head)

    def add(self, *parts: object) -> None:
        """Take what comes next, as JSON or bytes within."""
        for part in parts:
            self._hash.update(json.dumps(part, sort_keys=True, default=bytes.hex).encode() + b"\0")

    @property
    def fingerprint(self) -> str:
        """The fingerprint of all that was added so far."""
        return self._hash.hexdigest()

    def holds_for(self, kept: Mapping[str, JsonValue]) -> bool:
        """Tell whether what was kept of an answer was given behind exactly this."""
        return kept.get("prefix") == self.fingerprint
