"""The bytes of files in S3, and the presigned URLs that carry them straight to and from a browser (FM-02)."""

from dataclasses import dataclass
from urllib.parse import quote

import boto3
from botocore.client import Config
from botocore.exceptions import ClientError

from werkbank.domain.errors import NotFound

UPLOAD_SECONDS = 900
DOWNLOAD_SECONDS = 300


@dataclass(frozen=True, slots=True)
class StoredObject:
    """What storage knows of an object; `version` changes with every write."""

    size: int
    version: str


class S3Objects:
    """Objects of one bucket."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        # Presigned URLs must be version 4 with the region's own host, or browsers follow a redirect without CORS.
        self._client = boto3.client("s3", config=Config(signature_version="s3v4"))

    def get(self, key: str) -> bytes:
        """Return an object's bytes. Raises NotFound."""
        try:
            return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            raise _translated(error) from error

    def put(self, key: str, data: bytes, content_type: str = "application/octet-stream") -> None:
        """Store an object, over what was there."""
        self._client.put_object(Bucket=self._bucket, Key=key, Body=data, ContentType=content_type)

    def copy(self, source: str, target: str) -> None:
        """Store an object's bytes under another key as well. Raises NotFound."""
        try:
            self._client.copy_object(
                Bucket=self._bucket, Key=target, CopySource={"Bucket": self._bucket, "Key": source}
            )
        except ClientError as error:
            raise _translated(error) from error

    def delete(self, key: str) -> None:
        """Remove an object; there may be none."""
        self._client.delete_object(Bucket=self._bucket, Key=key)

    def head(self, key: str) -> StoredObject:
        """Return what is known of an object. Raises NotFound."""
        try:
            head = self._client.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            raise _translated(error) from error
        return StoredObject(head["ContentLength"], head.get("VersionId") or head["ETag"].strip('"'))

    def upload_url(self, key: str, content_type: str, size: int) -> str:
        """Return a URL that takes exactly one PUT of this type and size, for a quarter of an hour."""
        return self._client.generate_presigned_url(
            "put_object",
            Params={"Bucket": self._bucket, "Key": key, "ContentType": content_type, "ContentLength": size},
            ExpiresIn=UPLOAD_SECONDS,
        )

    def download_url(self, key: str, file_name: str, content_type: str) -> str:
        """Return a URL that shows the object in a browser under its own name, for five minutes."""
        return self._client.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self._bucket,
                "Key": key,
                "ResponseContentDisposition": f"inline; filename*=UTF-8''{quote(file_name)}",
                "ResponseContentType": content_type,
            },
            ExpiresIn=DOWNLOAD_SECONDS,
        )


def _translated(error: ClientError) -> Exception:
    if error.response["Error"]["Code"] in {"404", "NoSuchKey", "NotFound"}:
        return NotFound("The file's content is not there; it was never uploaded or has been deleted.")
    return error
