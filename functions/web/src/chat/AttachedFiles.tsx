import { useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
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
    files.find((file) => file.id === id)?.fileName ?? uploads.find((upload) => upload.fileId === id)?.source.name ?? "…";
  return (
    <div className="attached">
      {fileIds.map((id) => (
        <span key={id} className="chip" data-testid="attached-file">
          <Icon name="file" />
          <span>{nameOf(id)}</span>
          <button type="button" className="chip-remove" aria-label={t("composer.detach", { name: nameOf(id) })} onClick={() => onDetach(id)}>
            <Icon name="close" />
          </button>
        </span>
      ))}
    </div>
  );
}
