import type { Folder } from "../api/types";
import { useText } from "../i18n/language";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { askFor, confirmed } from "../ui/prompts";
import { useWorkspace } from "../workspace/workspace";
import { useFolderDrop } from "./dragFile";

export function FolderRow({ folder }: { folder: Folder }) {
  const t = useText();
  const { files, panels } = useWorkspace();
  const { id, name } = folder;

  const rename = async () => {
    const next = await askFor({
      title: t("common.rename"),
      action: t("common.save"),
      field: { label: t("files.folderName"), value: name },
    });
    if (next?.trim()) await files.renameFolder(id, next.trim());
  };
  const remove = async () => {
    const question = {
      title: t("files.deleteFolderTitle"),
      body: t("files.deleteFolderBody", { name }),
      action: t("common.delete"),
    };
    if (await confirmed({ ...question, danger: true })) await files.removeFolder(id);
  };

  return (
    <li className="row" data-testid="folder-row" {...useFolderDrop(id)}>
      <button type="button" className="row-main" onClick={() => panels.folder.set(id)}>
        <Icon name="folder" />
        <span className="row-name">{name}</span>
      </button>
      <Menu
        label={t("common.actions", { name })}
        items={[
          { label: t("common.rename"), act: () => void rename() },
          { label: t("common.delete"), danger: true, act: () => void remove() },
        ]}
      />
    </li>
  );
}
