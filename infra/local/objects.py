"""Keeps the objects of moto's S3 on disk, so that a restart loses no file.

moto holds objects in memory. After every request that changed a bucket, the object it names is written to the state
directory and what is gone is removed; the first request to a bucket after a start reads them back in, silently
(an object that is only remembered is not created, so no event is sent).
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from moto.s3.models import FakeBucket, FakeKey, S3Backend, s3_backends

from infra.local.account import ACCOUNT_ID

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class ObjectStore:
    """One folder per bucket; two files per object: its bytes, and its name, version and metadata as JSON."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._saved: dict[str, set[str]] = {}

    def serve(self, application: Application, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """WSGI middleware around moto."""
        backend: S3Backend = s3_backends[ACCOUNT_ID]["aws"]
        path = environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8", "replace")  # as WSGI passes UTF-8
        bucket_name, _, object_name = path.lstrip("/").partition("/")
        bucket = backend.buckets.get(bucket_name)
        if bucket is None:
            return application(environ, start_response)
        with self._lock:
            if bucket.name not in self._saved:
                self._saved[bucket.name] = self._restore(backend, bucket)
        response = application(environ, start_response)
        if environ["REQUEST_METHOD"] in ("PUT", "POST", "DELETE"):
            with self._lock:
                self._save(bucket, object_name)
        return response

    def _save(self, bucket: FakeBucket, changed: str) -> None:
        """Writes the object that the request named, and nothing that another request may be in the middle of."""
        folder = self._folder / bucket.name
        saved = self._saved[bucket.name]
        present = {name for name, key in bucket.keys.items() if isinstance(key, FakeKey)}
        for name in saved - present:
            for file in _files(folder, name):
                file.unlink(missing_ok=True)
        saved &= present
        if changed in present:
            _write(folder, changed, bucket.keys[changed])
            saved.add(changed)

    def _restore(self, backend: S3Backend, bucket: FakeBucket) -> set[str]:
        folder = self._folder / bucket.name
        saved: set[str] = set()
        for description_file in sorted(folder.glob("*.json")):
            description = json.loads(description_file.read_text(encoding="utf-8"))
            name = description["name"]
            key = backend.put_object(
                bucket.name,
                name,
                _files(folder, name)[0].read_bytes(),
                etag=description["etag"],
                disable_notification=True,
            )
            key.set_metadata(description["metadata"], replace=True)
            key._version_id = description["version"]
            saved.add(name)
        return saved


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    stem = hashlib.sha256(name.encode()).hexdigest()
    return folder / f"{stem}.bytes", folder / f"{stem}.json"


def _write(folder: Path, name: str, key: FakeKey) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    content, description = _files(folder, name)
    facts = {"name": name, "etag": key.etag.strip('"'), "version": key.version_id, "metadata": dict(key.metadata)}
    # The description comes last and both replace atomically: a file that is described is complete.
    for file, data in ((content, key.value), (description, json.dumps(facts).encode())):
        partial = file.with_suffix(".partial")
        partial.write_bytes(data)
        os.replace(partial, file)
