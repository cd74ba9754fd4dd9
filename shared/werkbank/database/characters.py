"""Text on its way into the database: what PostgreSQL cannot hold is left out, wherever it came from.

A person's frame, a model's arguments and a tool's result may contain NUL or half a character; none of them may end a
run or a request. https://www.postgresql.org/docs/current/datatype-character.html
"""

import json
import re

import psycopg
from psycopg.types.json import set_json_dumps
from psycopg.types.string import StrDumperUnknown

from werkbank.domain.characters import storable

# An escaped backslash, which is kept, or an escaped NUL.
_ESCAPED_NUL = re.compile(r"(\\\\)|\\u0000")


class _StorableText(StrDumperUnknown):
    def dump(self, obj: str) -> bytes:
        return storable(obj).encode()


def storable_json(value: object) -> str:
    """Return the JSON of a value, without escapes that PostgreSQL refuses."""
    text = json.dumps(value, ensure_ascii=False)
    return storable(_ESCAPED_NUL.sub(r"\1", text) if "\\u0000" in text else text)


def configure_text(connection: psycopg.Connection[dict[str, object]]) -> None:
    """Make a connection send only text that can be stored."""
    connection.adapters.register_dumper(str, _StorableText)
    set_json_dumps(storable_json, connection)
