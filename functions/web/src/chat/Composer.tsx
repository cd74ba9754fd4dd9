import { type ChangeEvent, type KeyboardEvent, useRef } from "react";
import { useUploadButton } from "../files/UploadArea";
import { useText } from "../i18n/language";
import { useStore } from "../store";
import { IconButton } from "../ui/IconButton";
import { useWorkspace } from "../workspace/workspace";
import { AttachedFiles } from "./AttachedFiles";
import { MentionList } from "./MentionList";
import { OptionsButton } from "./OptionsButton";
import { PROMPT_ID } from "./prompt";
import { useMentions } from "./useMentions";

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
          aria-haspopup="listbox"
          aria-controls={mentions.found.length > 0 ? MENTIONS_ID : undefined}
          aria-autocomplete="list"
          aria-activedescendant={mentions.found.length > 0 ? `${MENTIONS_ID}-${mentions.active}` : undefined}
          onChange={onChange}
          onKeyDown={onKeyDown}
          onBlur={mentions.close}
        />
        <div className="composer-bar">
          <IconButton icon="attach" label={t("composer.attach")} onClick={() => upload("attach")} />
          <OptionsButton />
          <span className="composer-hint">{uploading ? t("composer.uploading") : t("composer.keys")}</span>
          {runId === null ? (
            <IconButton
              icon="send"
              label={t("composer.send")}
              type="submit"
              className="round-button"
              data-testid="send"
              disabled={!canSend}
            />
          ) : (
            <IconButton
              icon="stop"
              label={t("composer.stop")}
              className="round-button stop"
              data-testid="stop"
              onClick={() => void stopRun(runId)}
            />
          )}
        </div>
      </div>
    </form>
  );
}
