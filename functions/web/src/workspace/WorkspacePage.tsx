import { useEffect, useState } from "react";
import type { Session } from "../auth/session";
import { ChatPanel } from "../chat/ChatPanel";
import { focusPrompt } from "../chat/prompt";
import { WaitingList } from "../consents/WaitingList";
import { ConversationList } from "../conversations/ConversationList";
import { FilePanel } from "../files/FilePanel";
import { UploadArea } from "../files/UploadArea";
import { useText } from "../i18n/language";
import { PreviewPanel } from "../preview/PreviewPanel";
import { useStore } from "../store";
import { TopBar } from "./TopBar";
import { Workspace, WorkspaceContext } from "./workspace";

/** The signed-in page: conversations and files, the chat, the preview. */
export function WorkspacePage({ session }: { session: Session }) {
  const [workspace] = useState(() => new Workspace(session));
  useEffect(() => workspace.start(), [workspace]);
  return (
    <WorkspaceContext value={workspace}>
      <UploadArea>
        <Layout session={session} workspace={workspace} />
      </UploadArea>
    </WorkspaceContext>
  );
}

function Layout({ session, workspace }: { session: Session; workspace: Workspace }) {
  const t = useText();
  const { panels, me } = workspace;
  const sidebar = useStore(panels.sidebar);
  const preview = useStore(panels.preview);
  const offline = useStore(me)?.offline ?? false;
  useEscape(() => (sidebar ? panels.closeSidebar() : panels.closePreview()));
  return (
    <div className="workspace" data-sidebar={sidebar ? "open" : "closed"} data-preview={preview ? "open" : "closed"}>
      <button type="button" className="skip" onClick={focusPrompt}>
        {t("app.skip")}
      </button>
      <TopBar session={session} />
      <div className="sidebar">
        <ConversationList />
        <FilePanel />
      </div>
      <div className="centre">
        {offline && (
          <p className="banner" role="note" data-testid="offline-banner">
            {t("bar.offlineModel")}
          </p>
        )}
        <WaitingList />
        <ChatPanel />
      </div>
      <PreviewPanel />
      {(sidebar || preview) && <div className="scrim" onClick={() => panels.closeAll()} />}
    </div>
  );
}

/** Esc closes the topmost panel, unless a dialog or a menu is open, which close by themselves. */
function useEscape(close: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTaken = event.defaultPrevented || document.querySelector("dialog[open], :popover-open") !== null;
      if (event.key === "Escape" && !isTaken) close();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  });
}
