import { useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
import { routeOf } from "../workspace/route";
import { SearchField } from "../ui/SearchField";
import { useWorkspace } from "../workspace/workspace";
import { ConversationRow } from "./ConversationRow";

export function ConversationList() {
  const t = useText();
  const { conversations, chat, panels } = useWorkspace();
  const { rows, search, loaded } = useStore(conversations.state);
  const { workflowId } = useStore(chat.state);
  return (
    <nav className="side-section conversations" aria-label={t("conversations.title")}>
      <header className="side-header">
        <h2>{t("conversations.title")}</h2>
        <a
          className="icon-button"
          data-testid="new-conversation"
          href={routeOf(null)}
          aria-label={t("conversations.new")}
          title={t("conversations.new")}
          onClick={panels.closeSidebar}
        >
          <Icon name="plus" />
        </a>
      </header>
      <SearchField label={t("conversations.search")} value={search} onSearch={conversations.search} />
      <ul className="rows">
        {rows.map((row) => (
          <ConversationRow key={row.id} row={row} open={row.id === workflowId} />
        ))}
      </ul>
      {loaded && rows.length === 0 && (
        <p className="side-empty">{t(search ? "conversations.noMatch" : "conversations.none")}</p>
      )}
    </nav>
  );
}
