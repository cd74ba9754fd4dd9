"""The WebSocket API of the twin, with API Gateway's limits."""  # DP-02

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from infra.local.stack import LocalStack


def _open(twin: LocalStack, ticket: str = "anna") -> ClientConnection:
    return connect(f"{twin.url.replace('http', 'ws')}/live?ticket={ticket}", open_timeout=20)


def _ask(socket: ClientConnection, text: str) -> dict[str, Any]:
    socket.send(text)
    answer: dict[str, Any] = json.loads(socket.recv(timeout=20))
    return answer


def _management(twin: LocalStack) -> Any:
    import boto3

    endpoint = twin.function_environment("EdgeFunction")["SOCKET_ENDPOINT"]
    config = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "eu-central-2"}
    return boto3.client("apigatewaymanagementapi", endpoint_url=endpoint, **config)  # type: ignore[call-overload]


def test_round_trip_through_authorizer_route_and_push(twin: LocalStack) -> None:
    with _open(twin) as socket:
        answer = _ask(socket, json.dumps({"action": "unknown", "n": 1}))
    assert answer["route"] == "$default"
    assert answer["user"] == "anna"
    assert answer["echo"] == {"action": "unknown", "n": 1}


@pytest.mark.parametrize(
    ("query", "status"), [("ticket=bad", 403), ("", 401), ("ticket=unwelcome", 403)], ids=["denied", "none", "connect"]
)
def test_the_handshake_is_refused(twin: LocalStack, query: str, status: int) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"{twin.url.replace('http', 'ws')}/live?{query}", open_timeout=20)
    assert refused.value.response.status_code == status


def test_messages_of_a_connection_keep_their_order(twin: LocalStack) -> None:
    with _open(twin) as socket:
        for number in range(10):
            socket.send(json.dumps({"n": number}))
        assert [json.loads(socket.recv(timeout=20))["echo"]["n"] for _ in range(10)] == list(range(10))


def test_a_frame_over_32_kilobytes_closes_the_connection(twin: LocalStack) -> None:
    with _open(twin) as socket:
        socket.send(json.dumps({"text": "x" * 33_000}))
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_a_larger_message_passes_in_small_frames(twin: LocalStack) -> None:
    text = json.dumps({"text": "x" * 60_000})
    with _open(twin) as socket:
        socket.send([text[start : start + 20_000] for start in range(0, len(text), 20_000)])
        assert len(json.loads(socket.recv(timeout=20))["echo"]["text"]) == 60_000


def test_a_message_over_128_kilobytes_closes_the_connection(twin: LocalStack) -> None:
    with _open(twin) as socket:
        socket.send(["x" * 30_000] * 5)
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)


def test_silence_ends_the_connection(twin: LocalStack) -> None:
    with _open(twin) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001


def test_a_text_that_is_no_json_takes_the_default_route(twin: LocalStack) -> None:
    with _open(twin) as socket:
        assert _ask(socket, "not json")["message"] == "Internal server error"  # the fixture's function fails on it
        assert _ask(socket, "{}")["route"] == "$default"


def test_pushes_fail_as_on_aws(twin: LocalStack) -> None:
    management = _management(twin)
    with _open(twin) as socket:
        connection = _ask(socket, "{}")["connectionId"]
        management.post_to_connection(ConnectionId=connection, Data="grüezi".encode())
        assert socket.recv(timeout=20) == "grüezi"
        with pytest.raises(ClientError) as too_large:
            management.post_to_connection(ConnectionId=connection, Data=bytes(128 * 1024 + 1))
        assert too_large.value.response["Error"]["Code"] == "PayloadTooLargeException"
        assert management.get_connection(ConnectionId=connection)["Identity"]["SourceIp"] == "127.0.0.1"
        management.delete_connection(ConnectionId=connection)
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)
    with pytest.raises(management.exceptions.GoneException) as gone:
        management.post_to_connection(ConnectionId=connection, Data=b"late")
    assert gone.value.response["ResponseMetadata"]["HTTPStatusCode"] == 410


def test_pushes_can_be_throttled(twin: LocalStack) -> None:
    management = _management(twin)
    with _open(twin) as socket:
        connection = _ask(socket, "{}")["connectionId"]
        twin.throttle_pushes(50)
        with pytest.raises(management.exceptions.LimitExceededException):
            management.post_to_connection(ConnectionId=connection, Data=b"x")
        twin.throttle_pushes(0)
        management.post_to_connection(ConnectionId=connection, Data=b"y")
        assert socket.recv(timeout=20) == "y"


def test_connections_can_be_cut(twin: LocalStack) -> None:
    with _open(twin) as socket:
        _ask(socket, "{}")
        twin.drop_sockets()
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)
