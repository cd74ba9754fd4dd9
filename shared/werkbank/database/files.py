"""Files: what is stored of them; their bytes are in object storage."""

from collections.abc import Sequence

from werkbank.database.store import Store
from werkbank.domain.errors import Forbidden
from werkbank.domain.files import FileItem, FileStatus, Scope

_COLUMNS = ", ".join(FileItem.model_fields)


class Files(Store):
    """File rows that the principal may see or change; row-level security decides which."""

    def lock(self, file_id: str) -> None:
        """Wait for whoever writes this file now, and keep others waiting until the transaction ends."""
        self._run("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (file_id,))

    def add(self, item: FileItem) -> FileItem:
        """Insert a file; a repeated insert of the same id changes nothing. Returns what is stored."""
        values = item.model_dump() | {"tags": list(item.tags)}
        self._run(
            f"INSERT INTO file_item ({_COLUMNS}) VALUES ({', '.join(f'%({name})s' for name in FileItem.model_fields)})"
            " ON CONFLICT (id) DO NOTHING",
            values,
        )
        return self.get(item.id)

    def get(self, file_id: str) -> FileItem:
        """Return a file. Raises NotFound."""
        return self._get(FileItem, "file", f"SELECT {_COLUMNS} FROM file_item WHERE id = %s", (file_id,))

    def find(self, file_ids: tuple[str, ...]) -> tuple[FileItem, ...]:
        """Return those of the files that exist for the principal, in the order asked for."""
        rows = self._list(FileItem, f"SELECT {_COLUMNS} FROM file_item WHERE id = ANY (%s)", (list(file_ids),))
        by_id = {item.id: item for item in rows}
        return tuple(by_id[file_id] for file_id in dict.fromkeys(file_ids) if file_id in by_id)

    def list(
        self,
        *,
        folder_id: str | None = None,
        tag: str | None = None,
        mime_type: str | None = None,
        search: str | None = None,
        limit: int = 500,
    ) -> tuple[FileItem, ...]:
        """Return files, newest first; each filter narrows. `search` is part of a name, case-insensitive."""
        return self._list(
            FileItem,
            f"""SELECT {_COLUMNS} FROM file_item
                WHERE (%(folder)s::uuid IS NULL OR folder_id = %(folder)s::uuid)
                  AND (%(tag)s::text IS NULL OR %(tag)s = ANY (tags))
                  AND (%(mime)s::text IS NULL OR mime_type = %(mime)s)
                  AND (%(search)s::text IS NULL OR position(lower(%(search)s) IN lower(file_name)) > 0)
                ORDER BY created_at DESC, id LIMIT %(limit)s""",
            {"folder": folder_id, "tag": tag, "mime": mime_type, "search": search, "limit": limit},
        )

    def named_in(self, text: str) -> tuple[FileItem, ...]:
        """Return the files whose names stand behind an `@` or a `/` in a text in form NFC, newest first (AG-01)."""
        name = "lower(normalize(file_name))"
        return self._list(
            FileItem,
            f"""SELECT {_COLUMNS} FROM file_item
                WHERE position('@' || {name} IN lower(%(text)s)) > 0 OR position('/' || {name} IN lower(%(text)s)) > 0
                ORDER BY created_at DESC, id""",
            {"text": text},
        )

    def ids_in(self, folder_ids: Sequence[str]) -> tuple[str, ...]:
        """Return the files that lie in these folders, newest first."""
        rows = self._rows(
            "SELECT id FROM file_item WHERE folder_id = ANY (%s) ORDER BY created_at DESC, id", (list(folder_ids),)
        )
        return tuple(row["id"] for row in rows)

    def update(
        self,
        file_id: str,
        *,
        file_name: str | None = None,
        folder_id: str | None = None,
        clear_folder: bool = False,
        tags: tuple[str, ...] | None = None,
        description: str | None = None,
        scope: Scope | None = None,
        neutralize: bool | None = None,
    ) -> FileItem:
        """Change what is given; return the file. Raises NotFound, or Forbidden where sharing needs a right."""
        self._run(
            """UPDATE file_item SET file_name = coalesce(%(name)s, file_name),
                   folder_id = CASE WHEN %(clear)s THEN NULL ELSE coalesce(%(folder)s::uuid, folder_id) END,
                   tags = coalesce(%(tags)s::text[], tags), description = coalesce(%(description)s, description),
                   scope = coalesce(%(scope)s, scope), neutralize = coalesce(%(neutralize)s, neutralize),
                   updated_at = now() WHERE id = %(id)s""",
            {
                "id": file_id, "name": file_name, "folder": folder_id, "clear": clear_folder,
                "tags": list(tags) if tags is not None else None, "description": description, "scope": scope,
                "neutralize": neutralize,
            },
        )  # fmt: skip
        return self.get(file_id)

    def set_content(self, file_id: str, object_key: str, size: int, mime_type: str) -> None:
        """Point the file at new bytes; it waits to be indexed again. Raises NotFound, Forbidden."""
        changed = self._touched(
            "UPDATE file_item SET object_key = %s, size = %s, mime_type = %s, status = 'pending', status_reason = NULL,"
            " updated_at = now() WHERE id = %s",
            (object_key, size, mime_type, file_id),
        )
        if not changed:
            name = self.get(file_id).file_name
            raise Forbidden(f"“{name}” is shared with you; only its owner or an administrator may change it.")

    def set_status(
        self,
        file_id: str,
        status: FileStatus,
        reason: str | None = None,
        *,
        hash: str | None = None,
        size: int | None = None,
        index_run_id: str | None = None,
    ) -> None:
        """Record how far indexing has come; `reason` is what a person reads beside a failed file."""
        self._run(
            "UPDATE file_item SET status = %s, status_reason = %s, hash = coalesce(%s, hash),"
            " size = coalesce(%s, size), index_run_id = coalesce(%s::uuid, index_run_id), updated_at = now()"
            " WHERE id = %s",
            (status, reason, hash, size, index_run_id, file_id),
        )

    def delete(self, file_id: str) -> FileItem:
        """Remove a file with its index (KS-09); return what it was. Raises NotFound, Forbidden."""
        item = self.get(file_id)
        if not self._touched("DELETE FROM file_item WHERE id = %s", (file_id,)):
            raise Forbidden(f"“{item.file_name}” is shared with you; only its owner or an administrator may delete it.")
        return item
