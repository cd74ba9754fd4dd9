"""Object storage in memory."""

from werkbank.domain.errors import NotFound


class MemoryObjects:
    """An `ObjectStore`."""

    def __init__(self, held: dict[str, bytes] | None = None) -> None:
        self.held = dict(held or {})

    def get(self, key: str) -> bytes:
        if key not in self.held:
            raise NotFound(key)
        return self.held[key]

    def put(self, key: str, data: bytes) -> None:
        self.held[key] = data

    def delete(self, key: str) -> None:
        self.held.pop(key, None)
