"""The base of every model that crosses a wire."""

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """An immutable model: PEP 8 names in Python, camelCase in JSON (`model_dump(mode="json", by_alias=True)`)."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True, extra="forbid"
    )

    def to_wire(self) -> dict[str, JsonValue]:
        """Return the JSON-ready form with camelCase keys."""
        return self.model_dump(mode="json", by_alias=True)
