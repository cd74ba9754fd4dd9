import { formatDuration } from "../i18n/format";
import { useText } from "../i18n/language";
import type { ToolBlock } from "../runs/runState";
import { Icon } from "../ui/Icon";
import { ConsentRequest } from "./ConsentRequest";

/** Consecutive tool calls as one list of steps, each of which opens to its arguments and result. */
export function ToolSteps({ runId, steps, running }: { runId: string; steps: readonly ToolBlock[]; running: boolean }) {
  const t = useText();
  const label = steps.length === 1 ? t("chat.steps.one") : t("chat.steps.many", { n: steps.length });
  return (
    <ol className="tool-steps" aria-label={label}>
      {steps.map((step) => (
        <ToolStep key={step.key} runId={runId} step={step} running={running} />
      ))}
    </ol>
  );
}

function ToolStep({ runId, step, running }: { runId: string; step: ToolBlock; running: boolean }) {
  const t = useText();
  const status = statusOf(step, running);
  return (
    <li className="tool-step" data-testid="tool-step" data-status={status} data-tool={step.name}>
      <details>
        <summary>
          <span className="tool-mark" aria-hidden="true">
            {status === "done" && <Icon name="check" />}
            {status === "failed" && <Icon name="alert" />}
            {status === "stopped" && <Icon name="minus" />}
          </span>
          <span className="tool-name">{step.name}</span>
          <span className="tool-line">{step.outcome?.summary || briefly(step.arguments)}</span>
          <span className="sr-only">{t(`chat.step.${status}`)}</span>
          {step.outcome?.durationMs != null && (
            <span className="tool-time">{formatDuration(step.outcome.durationMs)}</span>
          )}
          <Icon name="chevron" />
        </summary>
        <dl>
          <dt>{t("chat.step.arguments")}</dt>
          <dd>
            <pre>{pretty(step.arguments)}</pre>
          </dd>
          {step.outcome && (
            <>
              <dt>{t("chat.step.result")}</dt>
              <dd>{step.outcome.summary}</dd>
            </>
          )}
        </dl>
      </details>
      {status === "waiting" && <ConsentRequest runId={runId} step={step} />}
    </li>
  );
}

/** A call without a result in a run that is over did not come to its end. */
function statusOf(step: ToolBlock, running: boolean): "running" | "waiting" | "done" | "failed" | "stopped" {
  if (step.outcome) return step.outcome.success ? "done" : "failed";
  if (running && step.awaiting) return "waiting";
  return running ? "running" : "stopped";
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** The argument values in one line: enough to see what the step is about. */
function briefly(json: string): string {
  try {
    const values = Object.values(JSON.parse(json) as Record<string, unknown>);
    return values.filter((value) => typeof value === "string" || typeof value === "number").join(" · ");
  } catch {
    return json;
  }
}
