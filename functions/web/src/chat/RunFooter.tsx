import { formatChf, formatCount, formatDuration } from "../i18n/format";
import { useText } from "../i18n/language";
import type { Summary } from "../runs/events";
import { CopyButton } from "../ui/CopyButton";

/** The figures of a finished run. */
export function RunFooter({ summary, answer }: { summary: Summary; answer: string }) {
  const t = useText();
  const { rounds, toolCalls } = summary;
  const open = Number(summary.reservedChf ?? 0);
  const tokens = { in: formatCount(summary.inputTokens), out: formatCount(summary.outputTokens) };
  return (
    <footer className="run-footer" data-testid="summary" data-status={summary.status}>
      {summary.offline && (
        <span className="badge" data-testid="offline-badge" title={t("summary.offlineHint")}>
          {t("summary.offline")}
        </span>
      )}
      <span>{rounds === 1 ? t("summary.rounds.one") : t("summary.rounds.many", { n: rounds })}</span>
      <span>{toolCalls === 1 ? t("summary.tools.one") : t("summary.tools.many", { n: toolCalls })}</span>
      <span>{t("summary.tokens", tokens)}</span>
      {open > 0 ? (
        <span title={t("summary.openHint")}>≤ {formatChf(String(Number(summary.costChf) + open))}</span>
      ) : (
        <span>{formatChf(summary.costChf)}</span>
      )}
      <span>{formatDuration(summary.durationMs)}</span>
      {summary.model && <span>{summary.model}</span>}
      {summary.skills?.length ? <span>{t("summary.skills", { names: summary.skills.join(", ") })}</span> : null}
      <CopyButton text={answer} label={t("summary.copy")} />
    </footer>
  );
}
