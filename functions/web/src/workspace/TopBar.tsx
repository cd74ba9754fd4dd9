import { useEffect } from "react";
import type { Session } from "../auth/session";
import { formatChf } from "../i18n/format";
import { useText } from "../i18n/language";
import { SettingsButton } from "../settings/SettingsButton";
import { useStore } from "../store";
import { IconButton } from "../ui/IconButton";
import { LanguageButton, ThemeButton } from "../ui/Preferences";
import mark from "../ui/mark.svg";
import { useWorkspace } from "./workspace";

export function TopBar({ session }: { session: Session }) {
  const t = useText();
  const { chat, panels, socket } = useWorkspace();
  const { title } = useStore(chat.state);
  useEffect(() => {
    document.title = title ? `${title} – Werkbank` : "Werkbank";
  }, [title]);
  const isWaiting = useStore(socket.state) === "waiting";
  return (
    <header className="top-bar">
      <IconButton
        icon="menu"
        label={t("bar.sidebar")}
        className="icon-button sidebar-button"
        aria-expanded={useStore(panels.sidebar)}
        onClick={panels.toggleSidebar}
      />
      <span className="brand">
        <img src={mark} alt="" width="22" height="22" />
        <span>Werkbank</span>
      </span>
      <h1 className="chat-title">{title}</h1>
      {isWaiting && (
        <span className="reconnecting" role="status">
          <span className="pulse" aria-hidden="true" />
          {t("bar.reconnecting")}
        </span>
      )}
      <Spending />
      <SettingsButton />
      <LanguageButton />
      <ThemeButton />
      <IconButton icon="out" label={t("auth.signOut")} data-testid="sign-out" onClick={() => session.signOut()} />
    </header>
  );
}

/** What the mandate has spent, and how much of its limit that is. */
function Spending() {
  const t = useText();
  const me = useStore(useWorkspace().me);
  if (me === null) return null;
  const spent = formatChf(me.spentChf);
  if (me.limitChf === null) {
    return (
      <span className="spending" title={t("bar.spentUnlimited", { spent })}>
        {spent}
      </span>
    );
  }
  const limit = Number(me.limitChf);
  const label = t("bar.spent", { spent, limit: formatChf(me.limitChf) });
  return (
    <span className="spending" title={label}>
      <meter aria-label={label} min={0} max={limit || 1} high={limit * 0.8} value={Number(me.spentChf)} />
      <span>{spent}</span>
    </span>
  );
}
