import { useText } from "../i18n/language";
import { useStore } from "../store";
import { useWorkspace } from "../workspace/workspace";
import { useFolderDrop } from "./dragFile";
import { pathTo } from "./folderTree";

/** The way to the open folder; each part opens, and takes files dropped on it. Not shown at the top. */
export function FolderPath() {
  const t = useText();
  const { files, panels } = useWorkspace();
  const { folders } = useStore(files.state);
  const path = pathTo(folders, useStore(panels.folder));
  if (path.length === 0) return null;
  return (
    <nav className="folder-path" aria-label={t("files.folder")}>
      <Part folderId={null} name={t("files.all")} />
      {path.map((folder) => (
        <Part key={folder.id} folderId={folder.id} name={folder.name} />
      ))}
    </nav>
  );
}

function Part({ folderId, name }: { folderId: string | null; name: string }) {
  const { panels } = useWorkspace();
  return (
    <button type="button" {...useFolderDrop(folderId)} onClick={() => panels.folder.set(folderId)}>
      {name}
    </button>
  );
}
