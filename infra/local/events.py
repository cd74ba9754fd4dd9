"""Feeds SQS queues to functions, as Lambda's event source mappings do.

https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
"""

import asyncio
import json
import logging
import threading
from concurrent.futures import CancelledError
from typing import Any

from infra.local.account import REGION
from infra.local.aws import Aws
from infra.local.deployment import QueueSource
from infra.local.functions import Functions
from infra.local.worker import Outcome

log = logging.getLogger(__name__)

_POLL_SECONDS = 20  # SQS's longest long poll


class QueuePollers:
    """One thread per event source: it waits in a long poll, so that an idle queue costs nothing."""

    def __init__(self, aws: Aws, functions: Functions, loop: asyncio.AbstractEventLoop) -> None:
        self._aws = aws
        self._functions = functions
        self._loop = loop
        self._stopping = threading.Event()

    def start(self, sources: tuple[QueueSource, ...]) -> None:
        """Begins polling; the threads are daemons and end with the process or after `stop`."""
        for source in sources:
            threading.Thread(target=self._poll, args=(source,), name=f"sqs-{source.function}", daemon=True).start()

    def stop(self) -> None:
        """No batch is handed out after this; batches in work come back when their visibility runs out."""
        self._stopping.set()

    def _poll(self, source: QueueSource) -> None:
        while not self._stopping.is_set():
            try:
                self._serve_one_batch(source)
            except CancelledError:
                return
            except Exception:
                if not self._stopping.wait(1):
                    log.exception("polling failed", extra={"queue": source.queue_arn})

    def _serve_one_batch(self, source: QueueSource) -> None:
        sqs = self._aws.client("sqs")
        messages = sqs.receive_message(
            QueueUrl=source.queue_url,
            MaxNumberOfMessages=min(source.batch_size, 10),
            WaitTimeSeconds=_POLL_SECONDS,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages", [])
        if not messages or self._stopping.is_set():
            return
        event = {"Records": [_record(message, source.queue_arn) for message in messages]}
        work = self._functions.invoke(source.function, json.dumps(event).encode())
        outcome = asyncio.run_coroutine_threadsafe(work, self._loop).result()
        failed = failed_messages(outcome, {message["MessageId"] for message in messages}, source.partial)
        done = [message for message in messages if message["MessageId"] not in failed]
        if done:
            entries = [{"Id": str(n), "ReceiptHandle": item["ReceiptHandle"]} for n, item in enumerate(done)]
            sqs.delete_message_batch(QueueUrl=source.queue_url, Entries=entries)


def failed_messages(outcome: Outcome, sent: set[str], partial: bool) -> set[str]:
    """The ids of the messages that stay in the queue after `outcome`.

    All of them when the function failed or its partial response is not valid; none without ReportBatchItemFailures.
    """
    if outcome.failed:
        return sent
    if not partial:
        return set()
    try:
        answer = json.loads(outcome.payload)
        failed = {item["itemIdentifier"] for item in (answer or {}).get("batchItemFailures") or []}
    except (ValueError, KeyError, TypeError, AttributeError):
        return sent
    return failed if failed <= sent else sent


def _record(message: dict[str, Any], queue_arn: str) -> dict[str, Any]:
    attributes = {
        name: {
            "dataType": value["DataType"],
            **({"stringValue": value["StringValue"]} if "StringValue" in value else {}),
        }
        for name, value in message.get("MessageAttributes", {}).items()
    }
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": attributes,
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }
