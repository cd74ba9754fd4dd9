"""The arguments of a tool: a model made of its signature, and what is said of arguments that do not fit (TB-01)."""

import inspect
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, ValidationError, create_model, model_validator
from pydantic.alias_generators import to_camel

from werkbank.domain.errors import ToolError
from werkbank.tools.nearest import nearest

_SHOWN_CHARACTERS = 60
_SHOWN_MESSAGE_CHARACTERS = 300


class Arguments(BaseModel):
    """Base of every tool's arguments: camelCase for the model, and nothing beyond the signature."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, given: object) -> object:
        # Many models send every argument there is, with null for those that they would leave out.
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if value is not None or name not in optional(cls)}


def arguments_model(handler: Callable[..., str]) -> type[Arguments]:
    """Return the model of a handler's arguments but the first, which is the context."""
    _, *parameters = inspect.signature(handler, eval_str=True).parameters.values()
    fields = {
        parameter.name: (
            parameter.annotation,
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for parameter in parameters
    }
    model: type[Arguments] = create_model(f"{to_camel(handler.__name__)}Arguments", __base__=Arguments, **fields)  # type: ignore[call-overload]
    return model


def required(model: type[Arguments]) -> list[str]:
    """Return the names of the arguments that must be given."""
    return [field.alias or name for name, field in model.model_fields.items() if field.is_required()]


def optional(model: type[Arguments]) -> list[str]:
    """Return the names of the arguments that may be left out."""
    return [field.alias or name for name, field in model.model_fields.items() if not field.is_required()]


def checked(tool: str, model: type[Arguments], text: str) -> dict[str, object]:
    """Return the handler's arguments, of JSON text that may be anything. Raises ToolError naming what is wrong."""
    text = text.strip() or "{}"
    try:
        arguments = model.model_validate_json(text)
    except ValidationError as error:
        raise ToolError(_not_json(tool, text, error) or _violations(tool, model, error)) from error
    return {name: getattr(arguments, name) for name in model.model_fields}


def _not_json(tool: str, text: str, error: ValidationError) -> str | None:
    """Say why the text is not JSON, and where it ended if that was in the middle; None if it is JSON.

    An output limit or a cut stream leaves such halves.
    """
    [fault, *_] = error.errors(include_url=False, include_context=False, include_input=False)
    if fault["type"] != "json_invalid":
        return None
    reason = fault["msg"].removeprefix("Invalid JSON: ")
    said = f"The arguments of {tool} are not valid JSON ({reason})."
    if not reason.startswith("EOF"):
        return f"{said} Send the call again with one JSON object, as the tool's schema describes it."
    return (
        f"{said} They end with “{text[-_SHOWN_CHARACTERS:]}”, after {len(text)} characters. If they were cut off, send "
        "the call again with shorter arguments, or split the work."
    )


def _violations(tool: str, model: type[Arguments], error: ValidationError) -> str:
    """Say what is wrong with the arguments, without repeating them at length."""
    allowed = required(model) + optional(model)
    lines = [f"The arguments of {tool} are not valid:"]
    for fault in error.errors(include_url=False, include_context=False, include_input=False)[:10]:
        place = ".".join(map(str, fault["loc"]))
        message = fault["msg"][:_SHOWN_MESSAGE_CHARACTERS]
        if fault["type"] == "extra_forbidden":
            near = nearest(place, allowed)[:1]
            message = "there is no such argument." + "".join(f" Did you mean {name}?" for name in near)
        lines.append(f"- {place[:_SHOWN_CHARACTERS] or 'arguments'}: {message}")
    lines.append(f"Required: {', '.join(required(model)) or 'nothing'}.")
    lines.append(f"Optional: {', '.join(optional(model)) or 'nothing'}.")
    return "\n".join(lines)
