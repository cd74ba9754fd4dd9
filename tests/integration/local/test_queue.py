"""Uploads reach the queue's function; failed messages come back and end in the dead-letter queue."""  # DP-02, KS-03

import json
import uuid
from typing import Any

from infra.local.events import failed_messages
from infra.local.stack import LocalStack
from infra.local.worker import Outcome


def _queue(twin: LocalStack, name: str) -> str:
    urls: list[str] = twin.client("sqs").list_queues()["QueueUrls"]
    return next(url for url in urls if name in url)


def _seen(twin: LocalStack, name: str, times: int) -> int:
    """How often the function saw a message, after waiting for `times`."""
    dynamodb = twin.client("dynamodb")
    table = dynamodb.list_tables()["TableNames"][0]
    while True:
        item = dynamodb.get_item(TableName=table, Key={"pk": {"S": name}}).get("Item", {})
        if (count := int(item.get("seen", {}).get("N", 0))) >= times:
            return count


def test_an_upload_becomes_a_message(twin: LocalStack) -> None:
    bucket = twin.function_environment("EdgeFunction")["BUCKET_NAME"]
    twin.client("s3").put_object(Bucket=bucket, Key="files/report.pdf", Body=b"%PDF")
    assert _seen(twin, "files/report.pdf", 1) == 1


def test_only_the_failed_message_of_a_batch_comes_back_and_then_goes_to_the_dead_letters(twin: LocalStack) -> None:
    sqs = twin.client("sqs")
    good, poison = f"good-{uuid.uuid4()}", f"poison-{uuid.uuid4()}"
    entries = [{"Id": str(n), "MessageBody": json.dumps({"name": name})} for n, name in enumerate((good, poison))]
    sqs.send_message_batch(QueueUrl=_queue(twin, "-Queue"), Entries=entries)
    dead: list[dict[str, Any]] = []
    while not dead:
        dead = sqs.receive_message(QueueUrl=_queue(twin, "DeadLetters"), WaitTimeSeconds=5).get("Messages", [])
    assert json.loads(dead[0]["Body"]) == {"name": poison}
    assert _seen(twin, poison, 2) == 2  # maxReceiveCount
    assert _seen(twin, good, 1) == 1


def test_which_messages_count_as_failed() -> None:
    sent = {"a", "b"}

    def failed(answer: object, partial: bool = True) -> set[str]:
        return failed_messages(Outcome(json.dumps(answer).encode()), sent, partial)

    assert failed(None) == failed({}) == failed({"batchItemFailures": []}) == set()
    assert failed({"batchItemFailures": [{"itemIdentifier": "b"}]}) == {"b"}
    # As Lambda has it: a response that makes no sense fails the whole batch.
    assert failed({"batchItemFailures": [{"itemIdentifier": "z"}]}) == sent
    assert failed({"batchItemFailures": [{}]}) == sent
    assert failed("text") == sent
    assert failed({"batchItemFailures": [{"itemIdentifier": "b"}]}, partial=False) == set()
    assert failed_messages(Outcome.error("X", "y"), sent, partial=False) == sent
