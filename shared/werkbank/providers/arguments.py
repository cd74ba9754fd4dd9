"""Tool arguments between our JSON text and the objects some providers want."""

import json


def parsed_arguments(text: str) -> dict[str, object]:
    """Return the arguments as an object; text that is none is handed on under one name rather than lost.

    A history may hold calls that were cut off or malformed; providers that take objects must still accept it.
    """
    try:
        value = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {"invalidJson": text}
    return value if isinstance(value, dict) else {"invalidJson": text}


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
