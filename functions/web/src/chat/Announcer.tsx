import { useState } from "react";
import { useText } from "../i18n/language";
import type { RunState } from "../runs/runState";
import { answerOf } from "./AssistantMessage";

/** Tells screen readers what an answer waits for, that it is being written, then the whole of it: not every token. */
export function Announcer({ run }: { run: RunState | undefined }) {
  const t = useText();
  const [followed, setFollowed] = useState<string | null>(null);
  if (run && !run.end && followed !== run.runId) setFollowed(run.runId);
  const words = () => {
    if (!run || run.runId !== followed) return "";
    return run.end ? t("chat.answered", { text: answerOf(run) }) : (run.filler?.text ?? t("chat.writing"));
  };
  return (
    <div className="sr-only" role="status" aria-live="polite">
      {words()}
    </div>
  );
}
