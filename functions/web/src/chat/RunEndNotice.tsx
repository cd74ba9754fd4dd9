import { useText } from "../i18n/language";
import type { RunEnd } from "../runs/runState";

/** Says why a run ended otherwise than by an answer, and what the user can do. */
export function RunEndNotice({ end, onAgain }: { end: RunEnd; onAgain(): void }) {
  const t = useText();
  if (end.kind === "stopped") return <p className="notice">{t("chat.stopped")}</p>;
  if (end.kind === "error") {
    return (
      <div className="notice notice-error" role="alert">
        <p>
          <strong>{end.title || t("chat.failed")}</strong> {end.detail}
        </p>
        <button type="button" className="button" onClick={onAgain}>
          {t("chat.again")}
        </button>
      </div>
    );
  }
  if (end.status === "truncated") return <p className="notice notice-warning">{t("chat.truncated")}</p>;
  if (end.status === "maxRoundsReached") return <p className="notice notice-warning">{t("chat.maxRounds")}</p>;
  if (end.status === "budgetExceeded") return <p className="notice notice-warning">{t("chat.budget")}</p>;
  if (end.status === "timedOut") return <p className="notice notice-warning">{t("chat.timedOut")}</p>;
  if (end.status === "stalled") return <p className="notice notice-warning">{t("chat.stalled")}</p>;
  return null;
}
