"""Upload → searchable, through the real template: once, whole, or failed with a reason (KS-03, KS-04, FM-02)."""

import json
import time
import uuid
from pathlib import Path

import httpx
import pytest

from infra.local.client import Client, Json, ProblemError, Socket
from infra.local.stack import LocalStack
from tests.integration.stack.conftest import Script, ask, assert_gapless

DATA = Path(__file__).parents[4] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the test material ../shared/data is not here")


def settled(client: Client, file: Json, seconds: float = 120) -> Json:
    """Wait until a file is indexed or failed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        now: Json = client.call("GET", f"/files/{file['id']}")
        if now["status"] in {"indexed", "failed"}:
            return now
        time.sleep(0.2)
    raise AssertionError(f"{file['fileName']} is still {now['status']}")


def upload(client: Client, name: str, data: bytes) -> Json:
    return settled(client, client.upload(Path(name), name=name, data=data))


@needs_data
def test_upload_becomes_searchable_with_progress(client: Client, socket: Socket) -> None:
    # KS-03, DO-03, EV-01
    file = client.upload(DATA / "pdf" / "pdflatex-outline.pdf")
    events: list[Json] = []
    while not events or events[-1]["type"] not in {"complete", "error"}:
        event = socket.receive()
        if event["data"].get("fileId") == file["id"]:
            events.append(event)
    assert_gapless(events)
    assert events[-1]["data"]["status"] == "indexed"
    assert {"extracted", "embedding", "indexed"} <= {e["data"].get("status") for e in events}
    index = client.call("GET", f"/files/{file['id']}/index")
    assert index["structure"]["pageCount"] == 4
    assert index["structure"]["sections"]
    found = client.call("GET", "/knowledge/search", params={"q": "Lorem ipsum"})["passages"]
    assert found


@needs_data
def test_answer_cites_file_and_page(script: Script, client: Client, socket: Socket) -> None:
    # KS-05: a passage's number leads to its page
    file = settled(client, client.upload(DATA / "pdf" / "multi_page.pdf"))
    assert file["status"] == "indexed"
    events = ask(socket, script.add(["The word processor came up in the seventies [1]."]), fileIds=[file["id"]])
    (event,) = (event for event in events if event["type"] == "citations")
    (citation,) = event["data"]["citations"]
    assert citation["fileId"] == file["id"]
    assert citation["ref"]["pageIndex"] >= 1
    assert f"page {citation['ref']['pageIndex']}" in citation["place"]
    assert citation["quote"]


def test_redelivered_notices_give_one_index(client: Client, stack: LocalStack) -> None:
    # KS-03: at-least-once events, exactly one index
    file = upload(client, "notes.txt", "Die Miete beträgt 1200 Franken.".encode())
    before = client.call("GET", f"/files/{file['id']}/index")
    notice = {"detail": {"object": {"key": object_key(stack, file)}}}
    record = {"messageId": "again", "body": json.dumps(notice), "attributes": {}, "eventSource": "aws:sqs"}
    for _ in range(2):
        answer = stack.invoke("IndexUploadFunction", {"Records": [record, record]})
        assert answer == {"batchItemFailures": []}
    again = settled(client, file)
    assert again["indexRunId"] == file["indexRunId"]
    assert again["updatedAt"] == file["updatedAt"]
    assert client.call("GET", f"/files/{file['id']}/index") == before
    found = client.call("GET", "/knowledge/search", params={"q": "Miete Franken"})["passages"]
    assert [passage["fileId"] for passage in found].count(file["id"]) == 1


def object_key(stack: LocalStack, file: Json) -> str:
    """Return where a file's bytes are."""
    bucket = stack.function_environment("IndexUploadFunction")["BUCKET_NAME"]
    listed = stack.client("s3").list_objects_v2(Bucket=bucket, Prefix="files/")["Contents"]
    return str(next(item["Key"] for item in listed if file["id"] in item["Key"]))


BAD_FILES = {
    "empty.txt": (b"", "empty"),
    "empty.pdf": (b"", "empty"),
    "broken.pdf": (b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog", "damaged|cut off|incomplete|PDF"),
    "image.pdf": (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "PNG|image"),
    "archive.docx": (b"PK\x03\x04" + b"\0" * 50, "ZIP|damaged|archive|DOCX|Word"),
    "program.exe": (b"MZ" + b"\0" * 200, "cannot"),
}


@pytest.mark.parametrize("name", sorted(BAD_FILES))
def test_bad_file_fails_with_a_reason_and_is_kept(client: Client, name: str) -> None:
    data, reason = BAD_FILES[name]
    file = upload(client, name, data)
    assert file["status"] == "failed"
    assert any(word.lower() in file["statusReason"].lower() for word in reason.split("|")), file["statusReason"]
    with pytest.raises(ProblemError) as caught:
        client.call("GET", f"/files/{file['id']}/index")
    assert caught.value.status == 409
    kept = httpx.get(client.call("GET", f"/files/{file['id']}/content")["url"])
    assert kept.content == data


@needs_data
def test_encrypted_pdf_asks_for_one_without_password(client: Client) -> None:
    file = settled(client, client.upload(DATA / "pdf" / "libreoffice-writer-password.pdf"))
    assert file["status"] == "failed"
    assert "password" in file["statusReason"].lower()


def test_good_file_between_bad_ones_is_unharmed(client: Client) -> None:
    bad = [client.upload(Path("x"), name=f"bad {n}.pdf", data=b"nothing") for n in range(3)]
    good = client.upload(Path("x"), name="good.md", data=b"# Title\n\nA good paragraph about penguins.")
    assert settled(client, good)["status"] == "indexed"
    assert {settled(client, file)["status"] for file in bad} == {"failed"}


def test_file_beyond_the_limit_is_refused_before_upload(client: Client) -> None:
    # FM-02
    limit = client.call("GET", "/me")["maxUploadBytes"]
    with pytest.raises(ProblemError) as caught:
        client.call("POST", "/files", json={"fileName": "huge.pdf", "size": limit + 1})
    assert caught.value.status == 413


def test_deleted_file_is_gone_from_search_and_storage(client: Client, stack: LocalStack) -> None:
    # KS-09
    file = upload(client, "gone.txt", b"The zebra crossing is painted quarterly.")
    key = object_key(stack, file)
    client.call("DELETE", f"/files/{file['id']}")
    found = client.call("GET", "/knowledge/search", params={"q": "zebra crossing painted quarterly"})["passages"]
    assert file["id"] not in [passage["fileId"] for passage in found]
    bucket = stack.function_environment("IndexUploadFunction")["BUCKET_NAME"]
    listed = stack.client("s3").list_objects_v2(Bucket=bucket, Prefix=key)
    assert listed.get("Contents", []) == []


def test_notice_that_failed_too_often_marks_its_file(client: Client, stack: LocalStack) -> None:
    # KS-03: nobody waits for ever
    announced = client.call("POST", "/files", json={"fileName": "never.txt", "size": 3})
    me = client.call("GET", "/me")
    key = announced["upload"]["url"].split("?")[0].split("/files/")[1]
    assert key.startswith(f"{me['mandateId']}/{me['userId']}/{announced['file']['id']}/")
    notice = {"detail": {"object": {"key": f"files/{key}"}}}
    record = {"messageId": str(uuid.uuid4()), "body": json.dumps(notice), "attributes": {}, "eventSource": "aws:sqs"}
    assert stack.invoke("DeadLetterFunction", {"Records": [record]}) == {"batchItemFailures": []}
    file = client.call("GET", f"/files/{announced['file']['id']}")
    assert file["status"] == "failed"
    assert "upload" in file["statusReason"].lower()


def test_file_can_be_indexed_again(client: Client) -> None:
    file = upload(client, "again.txt", b"The lighthouse keeper feeds the seagulls.")
    client.call("POST", f"/files/{file['id']}/reindex")
    again = settled(client, file)
    assert again["status"] == "indexed"
    assert again["indexRunId"] != file["indexRunId"]
    found = client.call("GET", "/knowledge/search", params={"q": "lighthouse keeper seagulls"})["passages"]
    assert [passage["fileId"] for passage in found].count(file["id"]) == 1
    assert httpx.get(client.call("GET", f"/files/{file['id']}/content")["url"]).content.startswith(b"The lighthouse")
