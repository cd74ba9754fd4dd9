"""Takes notices of new objects from the queue and starts indexing (KS-03)."""

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import JsonValue

from werkbank import bootstrap
from werkbank.observability import Event, observed

_processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def _receive(record: SQSRecord) -> None:
    bootstrap.uploads().receive(record.json_body["detail"]["object"]["key"])


@observed
def handler(event: Event, context: LambdaContext) -> Event:
    """Take a batch of `Object Created` events; answer which of them must come again."""
    answer = process_partial_response(event=event, record_handler=_receive, processor=_processor, context=context)
    failures: list[JsonValue] = [
        {"itemIdentifier": str(item["itemIdentifier"])} for item in answer["batchItemFailures"]
    ]
    return {"batchItemFailures": failures}
