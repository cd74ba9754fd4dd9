import { useState } from "react";
import { useText } from "../i18n/language";
import type { Origin } from "../runs/events";
import { useWorkspace } from "../workspace/workspace";
import { ConsentOrigin } from "./ConsentOrigin";

interface ConsentRequestProps {
  runId: string;
  round: number;
  callId: string;
  /** Where the call comes from; null where an older event does not say. */
  origin: Origin | null;
  /** Whether the page shows all of what would be done: nobody allows what they cannot read. */
  isWhole: boolean;
}

/** Asks whether a call may run. Nothing happens until the user says so; the answer cannot be taken back. */
export function ConsentRequest({ runId, round, callId, origin, isWhole }: ConsentRequestProps) {
  const t = useText();
  const { waiting } = useWorkspace();
  const [decided, setDecided] = useState(false);
  const decide = async (approved: boolean) => {
    setDecided(true);
    if (!(await waiting.decide(runId, round, callId, approved))) setDecided(false);
  };
  return (
    <div className="consent" role="group" aria-label={t("chat.consent.question")} data-testid="consent">
      {origin && <ConsentOrigin origin={origin} />}
      <span>{isWhole ? t("chat.consent.question") : t("chat.consent.cut")}</span>
      {!isWhole && (
        <button type="button" className="button" onClick={waiting.refreshSoon}>
          {t("chat.consent.showAll")}
        </button>
      )}
      <button type="button" className="button" disabled={decided || !isWhole} onClick={() => void decide(true)}>
        {t("chat.consent.allow")}
      </button>
      <button type="button" className="button" disabled={decided} onClick={() => void decide(false)}>
        {t("chat.consent.decline")}
      </button>
    </div>
  );
}
