import { useState } from "react";
import { useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { askFor } from "../ui/prompts";
import { SearchField } from "../ui/SearchField";
import { useWorkspace } from "../workspace/workspace";
import { FileRow } from "./FileRow";
import { FolderRow } from "./FolderRow";
import { FolderPath } from "./FolderPath";
import { visibleFiles } from "./folderTree";
import { UploadRow } from "./UploadRow";
import { useUploadButton } from "./UploadArea";

export function FilePanel() {
  const t = useText();
  const { files: store, panels } = useWorkspace();
  const state = useStore(store.state);
  const folderId = useStore(panels.folder);
  const upload = useUploadButton();
  const [search, setSearch] = useState("");
  const [tag, setTag] = useState<string | null>(null);

  const everywhere = search.trim() !== "" || tag !== null;
  const folders = everywhere ? [] : state.folders.filter((folder) => folder.parentId === folderId);
  const underway = new Set(state.uploads.map((each) => each.fileId));
  const files = visibleFiles(state.files, { folderId, search, tag }).filter((file) => !underway.has(file.id));
  const isEmpty = state.loaded && files.length + folders.length + state.uploads.length === 0;

  const createFolder = async () => {
    const field = { label: t("files.folderName"), value: "" };
    const name = await askFor({ title: t("files.newFolder"), action: t("common.save"), field });
    if (name?.trim()) await store.createFolder(name.trim(), folderId);
  };

  return (
    <section className="side-section files" aria-label={t("files.title")}>
      <header className="side-header">
        <h2>{t("files.title")}</h2>
        <IconButton icon="newFolder" label={t("files.newFolder")} onClick={() => void createFolder()} />
        <IconButton icon="upload" label={t("files.upload")} onClick={() => upload("store")} />
      </header>
      <SearchField label={t("files.search")} value={search} onSearch={setSearch} />
      {tag !== null && (
        <button
          type="button"
          className="chip tag-filter"
          aria-label={t("files.clearTag")}
          title={t("files.clearTag")}
          onClick={() => setTag(null)}
        >
          #{tag}
          <Icon name="close" />
        </button>
      )}
      {!everywhere && <FolderPath />}
      <ul className="rows">
        {state.uploads.map((each) => (
          <UploadRow key={each.key} upload={each} />
        ))}
        {folders.map((folder) => (
          <FolderRow key={folder.id} folder={folder} />
        ))}
        {files.map((file) => (
          <FileRow key={file.id} file={file} progress={state.indexing[file.id]} onTag={setTag} />
        ))}
      </ul>
      {isEmpty && <p className="side-empty">{t(state.files.length === 0 ? "files.none" : "files.noneHere")}</p>}
    </section>
  );
}
