import { useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { useWorkspace } from "../workspace/workspace";

interface AttachedFilesProps {
  fileIds: readonly string[];
  onDetach(fileId: string): void;
}

/** The files that go with the question. */
export function AttachedFiles({ fileIds, onDetach }: AttachedFilesProps) {
  const t = useText();
  const { files: store } = useWorkspace();
  const { files, uploads } = useStore(store.state);
  if (fileIds.length === 0) return null;
  const nameOf = (id: string) =>
    files.find((file) => file.id === id)?.fileName ??
    uploads.find((upload) => upload.fileId === id)?.source.name ??
    "…";
  return (
    <div className="attached">
      {fileIds.map((id) => (
        <span key={id} className="chip" data-testid="attached-file">
          <Icon name="file" />
          <span>{nameOf(id)}</span>
          <IconButton
            icon="close"
            label={t("composer.detach", { name: nameOf(id) })}
            className="chip-remove"
            onClick={() => onDetach(id)}
          />
        </span>
      ))}
    </div>
  );
}
