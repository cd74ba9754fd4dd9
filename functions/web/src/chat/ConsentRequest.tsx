import { useState } from "react";
import { useText } from "../i18n/language";
import type { ToolBlock } from "../runs/runState";
import { useWorkspace } from "../workspace/workspace";

/** Asks whether a call may run. Nothing happens until the user says so; the answer cannot be taken back. */
export function ConsentRequest({ runId, step }: { runId: string; step: ToolBlock }) {
  const t = useText();
  const { chat } = useWorkspace();
  const [decided, setDecided] = useState(false);
  const decide = async (approved: boolean) => {
    setDecided(true);
    if (!(await chat.decide(runId, step.round, step.key, approved))) setDecided(false);
  };
  return (
    <div className="consent" role="group" aria-label={t("chat.consent.question")} data-testid="consent">
      <span>{t("chat.consent.question")}</span>
      <button type="button" className="button" disabled={decided} onClick={() => void decide(true)}>
        {t("chat.consent.allow")}
      </button>
      <button type="button" className="button" disabled={decided} onClick={() => void decide(false)}>
        {t("chat.consent.decline")}
      </button>
    </div>
  );
}
