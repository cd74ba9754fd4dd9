"""Logs, traces and metrics through Powertools. Messages are fixed texts with fields beside them; never content."""

import warnings
from collections.abc import Callable
from functools import cache, wraps

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import JsonValue

SERVICE = "werkbank"

Event = dict[str, JsonValue]
Handler = Callable[[Event, LambdaContext], Event]

logger = Logger(service=SERVICE)
# Most invocations count nothing, which is no reason for a warning in every log.
warnings.filterwarnings("ignore", message="No application metrics to publish")
metrics = Metrics(namespace="Werkbank", service=SERVICE)


def count(name: str, value: float = 1) -> None:
    """Add to a metric that is counted."""
    metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)


@cache
def tracer() -> Tracer:
    """Return the tracer. It is made at the first invocation: outside Lambda, loading X-Ray's library is slow."""
    # AWS is all that is traced. Left alone it loads every library it can trace, HTTP clients of model SDKs included.
    return Tracer(service=SERVICE, patch_modules=["botocore"])


def observed(handler: Handler) -> Handler:
    """Give a Lambda handler its logs, trace and metrics. Events and answers are data: never logged, never traced."""
    logged: Handler = logger.inject_lambda_context(handler, clear_state=True)

    @cache
    def traced() -> Handler:
        capture: Handler = tracer().capture_lambda_handler(logged, capture_response=False)
        return capture

    @wraps(handler)
    def invoke(event: Event, context: LambdaContext) -> Event:
        return traced()(event, context)

    measured: Handler = metrics.log_metrics(invoke)
    return measured
