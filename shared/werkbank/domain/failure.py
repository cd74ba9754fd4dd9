"""A caught error as Step Functions passes it on."""

import json

from pydantic import JsonValue

from werkbank.domain import errors
from werkbank.domain.base import WireModel


class Failure(WireModel):
    """A caught error as Step Functions passes it on: a Lambda function's `Cause` is JSON with `errorMessage`."""

    error: str
    cause: str = ""


def state_of(event: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the state a function is to work on: the event itself, or that of an execution that ended without a Catch.

    An execution's own timeout and a few runtime errors pass no Catch; EventBridge tells of them instead, with the
    execution's input as text. https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
    """
    detail = event.get("detail")
    if not isinstance(detail, dict):
        return event
    state: dict[str, JsonValue] = json.loads(str(detail["input"]))
    return {**state, "failure": {"Error": f"States.{detail['status']}"}}


def parse_failure(data: object) -> Failure:
    """Read `{"Error": …, "Cause": …}` of a state's Catch."""
    fields = data if isinstance(data, dict) else {}
    return Failure(error=str(fields.get("Error", "Unknown")), cause=str(fields.get("Cause", "")))


def message_of(failure: Failure) -> str:
    """Return what an error of ours says to a person; empty for any other, whose message may hold anything."""
    if error_type(failure) is None:
        return ""
    try:
        content = json.loads(failure.cause)
    except ValueError:
        return ""
    return str(content.get("errorMessage", "")) if isinstance(content, dict) else ""


def error_type(failure: Failure) -> type[errors.WerkbankError] | None:
    """Return the type of an error of ours."""
    kind = getattr(errors, failure.error, None)
    return kind if isinstance(kind, type) and issubclass(kind, errors.WerkbankError) else None
