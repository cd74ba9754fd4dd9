"""The AWS adapters against moto: tickets, connections and pushes, state machines, objects."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Final

import boto3
import httpx
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from werkbank.aws.connections import Connections, SocketPush, encode_event
from werkbank.aws.loops import StateMachine
from werkbank.aws.objects import S3Objects
from werkbank.aws.secrets import connection_string, read_secret, read_secret_version
from werkbank.aws.tickets import Tickets
from werkbank.domain.errors import LoopUnavailable, NotFound
from werkbank.domain.events import RunEvent
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef
from werkbank.domain.time import utc_now

REGION: Final = "eu-central-2"
PRINCIPAL = Principal(user_id="u", mandate_id="m", roles=frozenset({"admin"}), zone="Europe/Zurich", language="de")


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in {
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield


@pytest.fixture
def table(aws: None) -> str:
    boto3.client("dynamodb").create_table(
        TableName="sockets",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    )
    return "sockets"


def test_ticket_gives_its_principal_once(table: str) -> None:
    tickets = Tickets(table)
    ticket, _ = tickets.issue(PRINCIPAL)
    assert tickets.redeem(ticket) == PRINCIPAL
    assert tickets.redeem(ticket) is None


def test_expired_ticket_opens_nothing(table: str) -> None:
    tickets = Tickets(table)
    ticket, _ = tickets.issue(PRINCIPAL)
    rows = boto3.resource("dynamodb").Table(table)
    (item,) = rows.scan()["Items"]
    rows.put_item(Item={**item, "expiresAt": 1})
    assert tickets.redeem(ticket) is None


def test_table_does_not_know_the_ticket_itself(table: str) -> None:
    ticket, _ = Tickets(table).issue(PRINCIPAL)
    assert ticket not in str(boto3.resource("dynamodb").Table(table).scan()["Items"])


class Gateway(BaseHTTPRequestHandler):
    """A management endpoint where one connection is gone, one is throttled and one works."""

    delivered: list[bytes]

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        kind = next((kind for kind in ("gone", "busy") if kind in self.path), "")
        status, error = {"gone": (410, "GoneException"), "busy": (429, "LimitExceededException")}.get(kind, (200, ""))
        if status == 200:
            self.delivered.append(data)
        self.send_response(status)
        self.send_header("x-amzn-errortype", error)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def gateway(aws: None) -> Iterator[tuple[str, list[bytes]]]:
    delivered: list[bytes] = []
    handler = type("RecordingGateway", (Gateway,), {"delivered": delivered})
    server = HTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", delivered
    server.shutdown()
    server.server_close()


def an_event(text: str = "hello") -> RunEvent:
    return RunEvent(run_id="r", seq=1, type="message", at=utc_now(), data={"content": text})


def test_push_reaches_who_is_there_and_forgets_who_is_gone(table: str, gateway: tuple[str, list[bytes]]) -> None:
    # EV-03: a gone or throttled connection fails nothing
    url, delivered = gateway
    connections = Connections(table)
    for connection_id in ("gone", "busy", "here"):
        connections.add("u", connection_id)
    SocketPush(connections, url).push("u", an_event())
    assert [json.loads(data)["data"] for data in delivered] == [{"content": "hello"}]
    assert sorted(connections.of("u")) == ["busy", "here"]


def test_text_reaches_a_page_that_replaced_another(table: str, gateway: tuple[str, list[bytes]]) -> None:
    # EV-02: the page was known before the text came, and reloaded since
    url, delivered = gateway
    connections = Connections(table)
    connections.add("u", "gone")
    push = SocketPush(connections, url)
    push.expect("u")
    connections.add("u", "here")
    push.push("u", RunEvent(run_id="r", seq=1, type="chunk", at=utc_now(), data={"text": "a word"}))
    assert [json.loads(data)["data"] for data in delivered] == [{"text": "a word"}]


def test_push_to_nowhere_fails_nothing(table: str) -> None:
    connections = Connections(table)
    connections.add("u", "here")
    SocketPush(connections, "http://127.0.0.1:1").push("u", an_event())
    assert connections.of("u") == ["here"]


def test_push_without_the_table_fails_nothing(aws: None) -> None:
    connections = Connections("no such table")
    with pytest.raises(ClientError):
        connections.of("u")
    SocketPush(connections, "http://127.0.0.1:1").push("u", an_event())


def test_connections_belong_to_their_user(table: str) -> None:
    connections = Connections(table)
    connections.add("u", "one")
    connections.add("other", "two")
    assert connections.of("u") == ["one"]
    connections.remove("u", "one")
    assert connections.of("u") == []


def test_event_beyond_the_limit_says_so() -> None:
    assert json.loads(encode_event(an_event("x" * 200_000)))["data"] == {"oversized": True}
    assert json.loads(encode_event(an_event("ü" * 10)))["data"] == {"content": "ü" * 10}


def test_run_starts_once_and_may_be_stopped_any_time(aws: None) -> None:
    # AG-23
    definition = '{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 1, "End": true}}}'
    client = boto3.client("stepfunctions")
    arn = client.create_state_machine(name="loop", definition=definition, roleArn="arn:aws:iam::123456789012:role/r")
    machine = StateMachine(arn["stateMachineArn"])
    run = RunRef(run_id="run-1", mandate_id="m", user_id="u")
    machine.stop(run)
    machine.start(run)
    machine.start(run)
    (execution,) = client.list_executions(stateMachineArn=arn["stateMachineArn"])["executions"]
    assert execution["name"] == "run-1"
    machine.stop(run)
    machine.start(run)
    assert len(client.list_executions(stateMachineArn=arn["stateMachineArn"])["executions"]) == 1


def test_loop_that_cannot_be_started_is_told_in_our_words(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # AG-23; stopping is only a courtesy to a loop that ends by itself
    run = RunRef(run_id="run-1", mandate_id="m", user_id="u")
    refusing = StateMachine(f"arn:aws:states:{REGION}:123456789012:stateMachine:gone")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    for machine in (refusing, StateMachine(f"arn:aws:states:{REGION}:123456789012:stateMachine:away")):
        with pytest.raises(LoopUnavailable, match="try again"):
            machine.start(run)
        machine.stop(run)


def test_missing_object_is_not_found(aws: None) -> None:
    boto3.client("s3").create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": REGION})
    objects = S3Objects("bucket")
    for look in (objects.get, objects.head):
        with pytest.raises(NotFound):
            look("files/none")
    objects.delete("files/none")
    objects.put("files/a", b"abc")
    assert objects.get("files/a") == b"abc"
    assert objects.head("files/a").size == 3


def test_urls_are_signed_for_one_object_type_and_size(aws: None) -> None:
    # FM-02
    url = httpx.URL(S3Objects("bucket").upload_url("files/a", "text/plain", 3))
    signed = url.params["X-Amz-SignedHeaders"].split(";")
    assert {"content-length", "content-type", "host"} <= set(signed)
    assert url.path.endswith("/files/a")
    assert url.params["X-Amz-Expires"] == "900"


def test_secret_becomes_a_connection_string(aws: None) -> None:
    secret = {"host": "db.internal", "port": 5432, "username": "app", "password": "p@ss/w", "dbname": "werkbank"}
    arn = boto3.client("secretsmanager").create_secret(Name="s", SecretString=json.dumps(secret))["ARN"]
    assert connection_string(read_secret(arn)) == "postgresql://app:p%40ss%2Fw@/werkbank?host=db.internal&port=5432"


def test_versions_of_a_secret_are_read_by_stage_and_by_id(aws: None) -> None:
    # AG-13
    client = boto3.client("secretsmanager")
    arn = client.create_secret(Name="keys", SecretString="one")["ARN"]
    first = read_secret_version(arn, stage="AWSCURRENT")
    assert first is not None
    assert read_secret_version(arn, stage="AWSPREVIOUS") is None
    client.put_secret_value(SecretId=arn, SecretString="two")
    current = read_secret_version(arn, stage="AWSCURRENT")
    assert current is not None
    assert (first[0], current[0]) == ("one", "two")
    assert read_secret_version(arn, stage="AWSPREVIOUS") == first
    assert read_secret_version(arn, version=first[1]) == first
    assert read_secret_version(arn, version="0" * 32) is None
