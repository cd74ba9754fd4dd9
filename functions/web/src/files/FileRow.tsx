import type { FileItem } from "../api/types";
import { useText } from "../i18n/language";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { useWorkspace } from "../workspace/workspace";
import { dragFile } from "./dragFile";
import { isSettled } from "./fileStore";
import { useFileActions } from "./useFileActions";

interface FileRowProps {
  file: FileItem;
  progress: number | undefined;
  onTag(tag: string): void;
}

export function FileRow({ file, progress, onTag }: FileRowProps) {
  const t = useText();
  const { panels } = useWorkspace();
  const actions = useFileActions(file);
  const { id, fileName, status } = file;
  return (
    <li
      className="row file-row"
      data-testid="file-row"
      data-status={status}
      data-file={id}
      draggable
      onDragStart={(event) => dragFile(event, id)}
    >
      <button type="button" className="row-main" title={fileName} onClick={() => panels.openFile(id, fileName)}>
        <Icon name={status === "failed" ? "alert" : "file"} />
        <span className="row-name">{fileName}</span>
        {!isSettled(status) && <span className="status">{t(`files.status.${status}`)}</span>}
      </button>
      <Menu label={t("common.actions", { name: fileName })} items={actions} />
      {!isSettled(status) && (
        <progress aria-label={t(`files.status.${status}`)} max={1} value={progress || undefined} />
      )}
      {status === "failed" && (
        <p className="row-reason">
          {t("files.failedBecause", { reason: file.statusReason ?? t("files.unknownReason") })}
        </p>
      )}
      {file.tags.length > 0 && (
        <div className="row-tags">
          {file.tags.map((tag) => (
            <button
              key={tag}
              type="button"
              className="tag"
              title={t("files.filterTag", { tag })}
              onClick={() => onTag(tag)}
            >
              #{tag}
            </button>
          ))}
        </div>
      )}
    </li>
  );
}
