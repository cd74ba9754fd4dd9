import { useText } from "../i18n/language";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { Menu } from "../ui/Menu";
import { useWorkspace } from "../workspace/workspace";
import type { Upload } from "./fileStore";

/** A file on its way to the storage, or one that did not get there. */
export function UploadRow({ upload }: { upload: Upload }) {
  const t = useText();
  const { files } = useWorkspace();
  const { failed, progress } = upload;
  const { name } = upload.source;
  const cancel = t("files.cancelUpload", { name });
  return (
    <li
      className={failed ? "row file-row" : "row file-row is-underway"}
      data-testid="file-row"
      data-status={failed ? "failed" : "uploading"}
    >
      <div className="row-main">
        <Icon name={failed ? "alert" : "file"} />
        <span className="row-name">{name}</span>
        {!failed && <span className="status">{Math.round(progress * 100)} %</span>}
      </div>
      {failed ? (
        <Menu
          label={t("common.actions", { name })}
          items={[
            { label: t("files.retry"), act: () => files.retry(upload) },
            { label: t("files.discard"), act: () => files.discard(upload) },
          ]}
        />
      ) : (
        <IconButton icon="close" label={cancel} className="icon-button more" onClick={() => files.discard(upload)} />
      )}
      {failed && <p className="row-reason">{t("files.uploadBroken")}</p>}
      {!failed && <progress aria-label={t("files.status.uploading")} max={1} value={progress} />}
    </li>
  );
}
