import { useText } from "../i18n/language";
import { newRun } from "../runs/runState";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { useWorkspace } from "../workspace/workspace";
import { AssistantMessage } from "./AssistantMessage";
import type { Turn } from "./chatStore";
import { useStickToBottom } from "./useStickToBottom";

export function MessageList({ turns }: { turns: readonly Turn[] }) {
  const t = useText();
  const { runs } = useWorkspace();
  const states = useStore(runs.runs);
  const { scroller, content, atBottom, toBottom } = useStickToBottom(
    turns.length,
    states.get(turns.at(-1)?.runId ?? "")?.end === null,
  );
  return (
    <div className="messages-frame">
      <div className="messages" ref={scroller} role="log" aria-live="off" aria-label={t("chat.log")} tabIndex={0}>
        <div className="messages-column" ref={content}>
          {turns.map((turn) => (
            <section className="turn" key={turn.runId} data-run={turn.runId}>
              <UserMessage turn={turn} />
              <AssistantMessage turn={turn} run={states.get(turn.runId) ?? newRun(turn.runId)} />
            </section>
          ))}
        </div>
      </div>
      {!atBottom && <IconButton icon="down" label={t("chat.latest")} className="to-latest" onClick={toBottom} />}
    </div>
  );
}

function UserMessage({ turn }: { turn: Turn }) {
  const t = useText();
  const { chat, files, panels } = useWorkspace();
  const known = useStore(files.state).files;
  const { messageId, pinned } = turn;
  const attached = known.filter((file) => turn.fileIds.includes(file.id));
  return (
    <article className="message user" data-testid="message-user">
      <span className="sr-only">{t("chat.you")}: </span>
      <p>{turn.prompt}</p>
      {messageId && (
        <IconButton
          icon="pin"
          label={t("chat.pin")}
          className="icon-button pin"
          aria-pressed={pinned}
          onClick={() => void chat.pin(messageId, !pinned)}
        />
      )}
      {attached.length > 0 && (
        <div className="attached">
          {attached.map((file) => (
            <button
              key={file.id}
              type="button"
              className="chip"
              onClick={() => panels.openFile(file.id, file.fileName)}
            >
              <Icon name="file" />
              <span>{file.fileName}</span>
            </button>
          ))}
        </div>
      )}
    </article>
  );
}
