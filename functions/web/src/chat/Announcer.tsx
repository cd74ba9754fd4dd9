import { useText } from "../i18n/language";
import type { RunState } from "../runs/runState";
import { answerOf } from "./AssistantMessage";

/** Tells screen readers that an answer is being written, then the whole of it: not every token. */
export function Announcer({ run }: { run: RunState | undefined }) {
  const t = useText();
  const words = () => {
    if (!run) return "";
    return run.end ? t("chat.answered", { text: answerOf(run) }) : t("chat.writing");
  };
  return (
    <div className="sr-only" role="status" aria-live="polite">
      {words()}
    </div>
  );
}
