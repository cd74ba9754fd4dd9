import { ConsentRequest } from "../consents/ConsentRequest";
import { findCall } from "../consents/waitingStore";
import { formatDuration } from "../i18n/format";
import { useText } from "../i18n/language";
import type { ToolBlock } from "../runs/runState";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
import { useWorkspace } from "../workspace/workspace";
import { briefly, pretty } from "./arguments";

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
  const whole = findCall(useStore(useWorkspace().waiting.state), runId, step.round, step.key);
  const args = whole?.arguments ?? step.arguments;
  return (
    <li className="tool-step" data-testid="tool-step" data-status={status} data-tool={step.name}>
      <details open={status === "waiting"}>
        <summary>
          <span className="tool-mark" aria-hidden="true">
            {status === "done" && <Icon name="check" />}
            {status === "failed" && <Icon name="alert" />}
            {status === "stopped" && <Icon name="minus" />}
          </span>
          <span className="tool-name">{step.name}</span>
          <span className="tool-line">{step.outcome?.summary || briefly(args)}</span>
          <span className="sr-only">{t(`chat.step.${status}`)}</span>
          {step.outcome?.durationMs != null && (
            <span className="tool-time">{formatDuration(step.outcome.durationMs)}</span>
          )}
          <Icon name="chevron" />
        </summary>
        <dl>
          <dt>{t("chat.step.arguments")}</dt>
          <dd>
            <pre>{pretty(args)}</pre>
          </dd>
          {step.outcome && (
            <>
              <dt>{t("chat.step.result")}</dt>
              <dd>{step.outcome.summary}</dd>
            </>
          )}
        </dl>
      </details>
      {status === "waiting" && (
        <ConsentRequest
          runId={runId}
          round={step.round}
          callId={step.key}
          origin={whole ?? step.origin}
          isWhole={!step.truncated || whole !== undefined}
        />
      )}
    </li>
  );
}

/** A call without a result in a run that is over did not come to its end. */
function statusOf(step: ToolBlock, running: boolean): "running" | "waiting" | "done" | "failed" | "stopped" {
  if (step.outcome) return step.outcome.success ? "done" : "failed";
  if (running && step.awaiting) return "waiting";
  return running ? "running" : "stopped";
}
