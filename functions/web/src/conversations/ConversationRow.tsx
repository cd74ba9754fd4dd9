import type { WorkflowRow } from "../api/types";
import { formatWhen } from "../i18n/format";
import { useText } from "../i18n/language";
import { Menu } from "../ui/Menu";
import { askFor, confirmed } from "../ui/prompts";
import { routeOf } from "../workspace/route";
import { useWorkspace } from "../workspace/workspace";

const RUNNING = new Set(["running", "started", "pending"]);

export function ConversationRow({ row, open }: { row: WorkflowRow; open: boolean }) {
  const t = useText();
  const { chat, conversations, panels } = useWorkspace();
  const name = row.title || t("conversations.new");
  const isRunning = RUNNING.has(row.lastRunStatus ?? "");

  const rename = async () => {
    const field = { label: t("conversations.name"), value: row.title };
    const title = await askFor({ title: t("common.rename"), action: t("common.save"), field });
    if (title?.trim() && (await conversations.rename(row.id, title.trim())) && open) await chat.reload();
  };
  const remove = async () => {
    const question = {
      title: t("conversations.deleteTitle"),
      body: t("conversations.deleteBody", { name }),
      action: t("common.delete"),
    };
    if ((await confirmed({ ...question, danger: true })) && (await conversations.remove(row.id)) && open) {
      location.hash = routeOf(null);
    }
  };

  return (
    <li className={open ? "row is-open" : "row"} data-testid="conversation-row">
      <a
        className="row-main"
        href={routeOf(row.id)}
        aria-current={open ? "page" : undefined}
        onClick={panels.closeSidebar}
      >
        <span className="row-name">{name}</span>
        {isRunning ? (
          <span className="pulse" role="img" aria-label={t("conversations.running")} />
        ) : (
          <span className="row-note">{formatWhen(row.updatedAt)}</span>
        )}
      </a>
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
