import { type ChangeEvent, type KeyboardEvent, type RefObject, useRef, useState } from "react";
import { useUploadButton } from "../files/UploadArea";
import { useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
import { useWorkspace } from "../workspace/workspace";
import { AttachedFiles } from "./AttachedFiles";
import { MentionList } from "./MentionList";
import { completed, type Mentionable, mentionables, mentionAt } from "./mentions";
import { OptionsButton } from "./OptionsButton";
import { PROMPT_ID } from "./prompt";

const MENTIONS_ID = "mentions";

/** The box for the next question. While `runId` is being answered, the send button is a stop button. */
export function Composer({ runId }: { runId: string | null }) {
  const t = useText();
  const { chat, files, stopRun } = useWorkspace();
  const upload = useUploadButton();
  const draft = useStore(chat.draft);
  const { sending } = useStore(chat.state);
  const { uploads } = useStore(files.state);
  const box = useRef<HTMLTextAreaElement>(null);
  const mentions = useMentions(box);

  const uploading = uploads.some((each) => each.fileId !== null && draft.fileIds.includes(each.fileId));
  const canSend = runId === null && !sending && !uploading && draft.text.trim() !== "";
  const onKeyDown = (event: KeyboardEvent) => {
    if (mentions.onKeyDown(event) || event.nativeEvent.isComposing) return;
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    if (canSend) void chat.send();
  };
  const onChange = (event: ChangeEvent<HTMLTextAreaElement>) => {
    chat.draft.update((current) => ({ ...current, text: event.target.value }));
    mentions.look(event.target.value, event.target.selectionStart);
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) void chat.send();
      }}
    >
      {mentions.found.length > 0 && (
        <MentionList id={MENTIONS_ID} found={mentions.found} active={mentions.active} onChoose={mentions.choose} />
      )}
      <div className="composer-box">
        <AttachedFiles fileIds={draft.fileIds} onDetach={chat.detach} />
        <textarea
          ref={box}
          id={PROMPT_ID}
          data-testid="prompt"
          rows={1}
          value={draft.text}
          placeholder={t("composer.placeholder")}
          aria-label={t("composer.label")}
          role="combobox"
          aria-expanded={mentions.found.length > 0}
          aria-controls={MENTIONS_ID}
          aria-autocomplete="list"
          aria-activedescendant={mentions.found.length > 0 ? `${MENTIONS_ID}-${mentions.active}` : undefined}
          onChange={onChange}
          onKeyDown={onKeyDown}
          onBlur={mentions.close}
        />
        <div className="composer-bar">
          <button type="button" className="icon-button" aria-label={t("composer.attach")} title={t("composer.attach")} onClick={() => upload("attach")}>
            <Icon name="attach" />
          </button>
          <OptionsButton />
          <span className="composer-hint">{uploading ? t("composer.uploading") : t("composer.keys")}</span>
          {runId === null ? (
            <button type="submit" className="round-button" data-testid="send" disabled={!canSend} aria-label={t("composer.send")} title={t("composer.send")}>
              <Icon name="send" />
            </button>
          ) : (
            <button type="button" className="round-button stop" data-testid="stop" aria-label={t("composer.stop")} title={t("composer.stop")} onClick={() => stopRun(runId)}>
              <Icon name="stop" />
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

/** The @-autocomplete: what is offered for the caret's place, and the keys that choose from it. */
function useMentions(box: RefObject<HTMLTextAreaElement | null>) {
  const { chat, files } = useWorkspace();
  const [found, setFound] = useState<Mentionable[]>([]);
  const [active, setActive] = useState(0);
  const close = () => setFound([]);

  const look = (text: string, caret: number) => {
    const mention = mentionAt(text, caret);
    const { files: known, folders } = files.state.get();
    setFound(mention ? mentionables(known, folders, mention.query) : []);
    setActive(0);
  };

  const choose = (chosen: Mentionable) => {
    const input = box.current;
    const mention = input && mentionAt(input.value, input.selectionStart);
    if (!mention) return;
    const next = completed(input.value, input.selectionStart, mention, chosen.label);
    chat.draft.update((draft) => ({ ...draft, text: next.text }));
    if (chosen.fileId) chat.attach(chosen.fileId);
    close();
    requestAnimationFrame(() => {
      input.focus();
      input.setSelectionRange(next.caret, next.caret);
    });
  };

  /** True when the key was for the list. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = found[active];
    if (!chosen) return false;
    if (step) setActive((active + step + found.length) % found.length);
    else if (event.key === "Enter" || event.key === "Tab") choose(chosen);
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };

  return { found, active, look, choose, close, onKeyDown };
}
