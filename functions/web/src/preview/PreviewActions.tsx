import { formatBytes } from "../i18n/format";
import { useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
import { attempt } from "../ui/toasts";
import { useWorkspace } from "../workspace/workspace";

interface PreviewActionsProps {
  fileId: string;
  page: number | null;
  chunkCount: number | null;
}

/** Facts about the file and the way to the original. */
export function PreviewActions({ fileId, page, chunkCount }: PreviewActionsProps) {
  const t = useText();
  const { api, files } = useWorkspace();
  const file = useStore(files.state).files.find((each) => each.id === fileId);
  const isPdf = file?.mimeType === "application/pdf";

  const open = async () => {
    // Opened within the click, or the browser takes it for a pop-up; the address comes later.
    const tab = window.open("", "_blank");
    const worked = await attempt(async () => {
      const { url } = await api.fileContent(fileId);
      if (!tab) return location.assign(url);
      tab.opener = null;
      tab.location.href = isPdf && page !== null ? `${url}#page=${page}` : url;
    });
    if (!worked) tab?.close();
  };

  return (
    <div className="preview-actions">
      <button type="button" className="button" data-testid="open-original" onClick={() => void open()}>
        <Icon name="open" />
        {isPdf && page !== null ? t("preview.openPage", { page }) : t("preview.openOriginal")}
      </button>
      {file && <span>{formatBytes(file.size)}</span>}
      {chunkCount !== null && (
        <span>{chunkCount === 1 ? t("preview.passages.one") : t("preview.passages.many", { n: chunkCount })}</span>
      )}
      {file && file.status !== "indexed" && (
        <p className="notice">
          {file.statusReason ?? t("preview.notIndexed", { status: t(`files.status.${file.status}`) })}
        </p>
      )}
    </div>
  );
}
