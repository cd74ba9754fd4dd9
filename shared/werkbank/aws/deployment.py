"""Tells CloudFormation how a custom resource went."""

import json
import urllib.request

from aws_lambda_powertools.utilities.typing import LambdaContext

from werkbank.observability import Event


def respond(event: Event, context: LambdaContext, *, succeeded: bool) -> None:
    """Answer a custom resource event at its presigned URL; a plain call without one needs no answer.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
    """
    url = str(event.get("ResponseURL", ""))
    if not url.startswith(("https://", "http://")):
        return
    answer = {
        "Status": "SUCCESS" if succeeded else "FAILED",
        "Reason": f"Details are in the log stream {context.log_stream_name}.",
        "PhysicalResourceId": event.get("PhysicalResourceId", "schema"),
        **{key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")},
    }
    # An empty content type, as the URL was signed with none.
    body = json.dumps(answer).encode()
    request = urllib.request.Request(url, data=body, headers={"content-type": ""}, method="PUT")  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310
