import { useText } from "../i18n/language";
import { useStore } from "../store";
import { useWorkspace } from "../workspace/workspace";
import { Announcer } from "./Announcer";
import { Composer } from "./Composer";
import { EmptyChat } from "./EmptyChat";
import { MessageList } from "./MessageList";

/** The open conversation: its messages and the box for the next question. */
export function ChatPanel() {
  const t = useText();
  const { chat, runs } = useWorkspace();
  const { turns, loading } = useStore(chat.state);
  const latest = useStore(runs.runs).get(turns.at(-1)?.runId ?? "");
  const unfinished = latest && !latest.end ? latest.runId : null;
  return (
    <main className="chat" data-drop="attach">
      {turns.length > 0 && <MessageList turns={turns} />}
      {turns.length === 0 && (loading ? <p className="chat-loading">{t("app.loading")}</p> : <EmptyChat />)}
      <Announcer run={latest} />
      <Composer runId={unfinished} />
    </main>
  );
}
