"""Folders."""

from werkbank.database.store import Store
from werkbank.domain.errors import Conflict, InvalidInput
from werkbank.domain.files import FileFolder

_COLUMNS = ", ".join(FileFolder.model_fields)


class Folders(Store):
    """The principal's own folders."""

    def add(self, folder: FileFolder) -> FileFolder:
        """Insert a folder. Raises Conflict when its parent has one of this name."""
        if folder.parent_id:
            self.get(folder.parent_id)
        self._run(
            f"INSERT INTO file_folder ({_COLUMNS}) VALUES ({', '.join(f'%({n})s' for n in FileFolder.model_fields)})",
            folder.model_dump(),
        )
        return self.get(folder.id)

    def get(self, folder_id: str) -> FileFolder:
        """Return a folder. Raises NotFound."""
        return self._get(FileFolder, "folder", f"SELECT {_COLUMNS} FROM file_folder WHERE id = %s", (folder_id,))

    def list(self) -> tuple[FileFolder, ...]:
        """Return all folders by name."""
        return self._list(FileFolder, f"SELECT {_COLUMNS} FROM file_folder ORDER BY lower(name), id")

    def update(self, folder_id: str, *, name: str | None, parent_id: str | None, to_top: bool) -> FileFolder:
        """Rename or move a folder. Raises NotFound, Conflict, InvalidInput when it would lie within itself."""
        self.get(folder_id)
        if parent_id:
            self.get(parent_id)
            if folder_id in self._ancestry(parent_id):
                raise InvalidInput("A folder cannot be moved into itself or into one of its own folders.")
        self._run(
            "UPDATE file_folder SET name = coalesce(%s, name),"
            " parent_id = CASE WHEN %s THEN NULL ELSE coalesce(%s::uuid, parent_id) END WHERE id = %s",
            (name, to_top, parent_id, folder_id),
        )
        return self.get(folder_id)

    def delete(self, folder_id: str, *, recursive: bool) -> None:
        """Remove a folder. Its files move to the top; folders within it only go with `recursive`. Raises Conflict."""
        folder = self.get(folder_id)
        filled = self._row(
            "SELECT 1 AS found FROM file_folder WHERE parent_id = %(id)s UNION ALL"
            " SELECT 1 FROM file_item WHERE folder_id = %(id)s LIMIT 1",
            {"id": folder_id},
        )
        if filled and not recursive:
            raise Conflict(f"The folder “{folder.name}” is not empty. Delete it with its folders, or empty it first.")
        self._run("DELETE FROM file_folder WHERE id = %s", (folder_id,))

    def _ancestry(self, folder_id: str) -> set[str]:
        rows = self._rows(
            "WITH RECURSIVE up AS (SELECT id, parent_id FROM file_folder WHERE id = %s"
            " UNION SELECT f.id, f.parent_id FROM file_folder f JOIN up ON f.id = up.parent_id) SELECT id FROM up",
            (folder_id,),
        )
        return {row["id"] for row in rows}
