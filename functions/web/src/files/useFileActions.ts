import type { FileItem } from "../api/types";
import { focusPrompt } from "../chat/prompt";
import { useText } from "../i18n/language";
import type { MenuItem } from "../ui/Menu";
import { askFor, confirmed } from "../ui/prompts";
import { useWorkspace } from "../workspace/workspace";
import { pathTo, tagsOf } from "./folderTree";

const TOP = "";

/** What can be done with a file, as the items of its menu. */
export function useFileActions(file: FileItem): MenuItem[] {
  const t = useText();
  const { files, chat, panels } = useWorkspace();
  const { id, fileName: name } = file;

  const attach = () => {
    chat.attach(id);
    panels.closeSidebar();
    focusPrompt();
  };
  const rename = async () => {
    const next = await askFor({
      title: t("common.rename"),
      action: t("common.save"),
      field: { label: t("files.name"), value: name },
    });
    if (next?.trim()) await files.change(id, { fileName: next.trim() });
  };
  const tag = async () => {
    const field = { label: t("files.tagsLabel"), value: file.tags.join(", ") };
    const next = await askFor({ title: name, action: t("common.save"), field });
    if (next !== null) await files.change(id, { tags: tagsOf(next) });
  };
  const move = async () => {
    const { folders } = files.state.get();
    const label = (folderId: string) =>
      pathTo(folders, folderId)
        .map((folder) => folder.name)
        .join(" / ");
    const options = [
      { value: TOP, label: t("files.noFolder") },
      ...folders.map((folder) => ({ value: folder.id, label: label(folder.id) })),
    ];
    const field = { label: t("files.folder"), value: file.folderId ?? TOP, options };
    const next = await askFor({ title: t("files.moveTitle", { name }), action: t("common.save"), field });
    if (next !== null) await files.change(id, { folderId: next === TOP ? null : next });
  };
  const remove = async () => {
    const question = {
      title: t("files.deleteTitle"),
      body: t("files.deleteBody", { name }),
      action: t("common.delete"),
    };
    if (!(await confirmed({ ...question, danger: true })) || !(await files.remove(id))) return;
    chat.detach(id);
    if (panels.preview.get()?.fileId === id) panels.closePreview();
  };

  return [
    { label: t("files.open"), act: () => panels.openFile(id, name) },
    { label: t("files.attach"), act: attach },
    { label: t("common.rename"), act: () => void rename() },
    { label: t("files.move"), act: () => void move() },
    { label: t("files.tags"), act: () => void tag() },
    { label: t("files.reindex"), act: () => void files.reindex(id) },
    { label: t("common.delete"), danger: true, act: () => void remove() },
  ];
}
