"""What a user has survives the twin's end, and nothing of the twin does."""  # DP-02

import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jwt
import psutil  # type: ignore[import-untyped]
import psycopg
import pytest
from botocore.exceptions import ClientError

from infra.local.account import StartError
from infra.local.processes import ROOT, process_name
from infra.local.stack import LocalStack

from .conftest import FIXTURE


@contextlib.contextmanager
def _command(state: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "infra.local", "--template", str(FIXTURE), "--state-dir", str(state)]
    environment = {**os.environ, "PORT": "0"}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment) as twin:
        try:
            yield twin
        finally:
            twin.kill()  # a test that failed must not wait for it


def _sub(stack: LocalStack) -> str:
    claims = jwt.decode(stack.access_token(), options={"verify_signature": False})
    return str(claims["sub"])


def test_objects_rows_and_the_user_survive_a_restart(tmp_path: Path) -> None:
    with LocalStack(FIXTURE, tmp_path, environment={}) as stack:
        user = _sub(stack)
        s3, bucket = stack.client("s3"), stack.function_environment("EdgeFunction")["BUCKET_NAME"]
        kept = s3.put_object(
            Bucket=bucket, Key="a/ü b.txt", Body=b"bytes", ContentType="text/plain", Metadata={"x": "y"}
        )
        s3.put_object(Bucket=bucket, Key="gone.txt", Body=b"x")
        s3.delete_object(Bucket=bucket, Key="gone.txt")
    with LocalStack(FIXTURE, tmp_path, environment={}) as stack:
        assert _sub(stack) == user
        s3, bucket = stack.client("s3"), stack.function_environment("EdgeFunction")["BUCKET_NAME"]
        found = s3.get_object(Bucket=bucket, Key="a/ü b.txt")
        assert found["Body"].read() == b"bytes"
        assert (found["ContentType"], found["Metadata"]) == ("text/plain", {"x": "y"})
        assert (found["VersionId"], found["ETag"]) == (kept["VersionId"], kept["ETag"])
        with pytest.raises(ClientError):
            s3.head_object(Bucket=bucket, Key="gone.txt")
        assert stack.app is not None
        with psycopg.connect(stack.app.uri()) as connection:
            row = connection.execute("SELECT count(*) FROM start").fetchone()
            role = connection.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
            assert role.fetchone() == (False,)
        assert row == (2,)  # the custom resource ran at both starts


def test_running_state_machines_go_on_after_a_restart(tmp_path: Path) -> None:
    request = {"name": "long", "input": json.dumps({"batches": [["a"]] * 10})}
    with LocalStack(FIXTURE, tmp_path, environment={}) as stack:
        client = stack.client("stepfunctions")
        machine = client.list_state_machines()["stateMachines"][0]["stateMachineArn"]
        done = client.start_execution(stateMachineArn=machine, name="done", input='{"batches": []}')
        while client.describe_execution(executionArn=done["executionArn"])["status"] == "RUNNING":
            pass
        running = client.start_execution(stateMachineArn=machine, **request)
    with LocalStack(FIXTURE, tmp_path, environment={}) as stack:
        client = stack.client("stepfunctions")
        known = client.list_executions(stateMachineArn=machine)["executions"]
        assert [execution["name"] for execution in known] == ["long"]
        while (found := client.describe_execution(executionArn=running["executionArn"]))["status"] == "RUNNING":
            pass
        assert found["status"] == "SUCCEEDED"
        assert not list((tmp_path / "executions").iterdir())


def test_children_end_with_a_killed_parent(tmp_path: Path) -> None:
    with _command(tmp_path) as twin:
        children = _children_when_ready(twin)
        twin.kill()
    while any(process_name(pid) for pid in children):
        pass  # the test's own time limit ends this
    with LocalStack(FIXTURE, tmp_path, environment={}) as stack:  # the data is in order
        assert stack.url


@pytest.mark.parametrize("to_main_thread", [True, False])
def test_a_signal_stops_everything_in_order(tmp_path: Path, to_main_thread: bool) -> None:
    """The kernel may give a process's signal to any of its threads; each must do."""
    with _command(tmp_path) as twin:
        children = _children_when_ready(twin)
        threads = sorted(int(thread.id) for thread in psutil.Process(twin.pid).threads())
        _signal_thread(twin.pid, twin.pid if to_main_thread else threads[1])
        assert twin.wait(120) == 0
    while any(process_name(pid) for pid in children):
        pass  # the last may still be ending; the test's own time limit ends this
    assert not (tmp_path / "postgres" / "postmaster.pid").exists()  # the database was closed, not killed


def _signal_thread(pid: int, thread: int) -> None:
    """tgkill(2): what `kill` does when the kernel picks this thread."""
    assert ctypes.CDLL(None).tgkill(pid, thread, int(signal.SIGTERM)) == 0


def _children_when_ready(twin: subprocess.Popen[str]) -> list[int]:
    assert twin.stdout is not None
    assert re.fullmatch(r"Werkbank is ready: http://127\.0\.0\.1:\d+\n", twin.stdout.readline())
    children = [process.pid for process in psutil.Process(twin.pid).children()]
    assert len(children) >= 3  # moto, PostgreSQL, at least one function
    return children


def test_a_used_port_is_said_plainly(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"Port {port} is in use"):
            LocalStack(FIXTURE, tmp_path, port=port).start()


def test_a_missing_template_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="is missing"):
        LocalStack(tmp_path / "template.yaml", tmp_path).start()
