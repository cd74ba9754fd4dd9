"""What a user has survives the twin's end, and nothing of the twin does."""  # DP-02

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import jwt
import psycopg
import pytest
from botocore.exceptions import ClientError

from infra.local.account import StartError
from infra.local.processes import ROOT, process_name
from infra.local.stack import LocalStack

from .conftest import FIXTURE

_RUN = """
import sys, pathlib, signal
from infra.local.stack import LocalStack
stack = LocalStack(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), environment={})
stack.start()
print(*stack.child_pids(), flush=True)
signal.pause()
"""


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


def test_children_end_with_a_killed_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _RUN, str(FIXTURE), str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) >= 3
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait(10)
    while any(process_name(pid) for pid in pids):
        pass  # the test's own time limit ends this
    with LocalStack(FIXTURE, tmp_path, environment={}) as stack:  # the data is in order
        assert stack.url


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
