import { pretty } from "../chat/arguments";
import { useText } from "../i18n/language";
import { useStore } from "../store";
import { Icon } from "../ui/Icon";
import { routeOf } from "../workspace/route";
import { useWorkspace } from "../workspace/workspace";
import { ConsentRequest } from "./ConsentRequest";

/** What waits for the user elsewhere: in the open conversation the step itself asks. */
export function WaitingList() {
  const t = useText();
  const { waiting, chat } = useWorkspace();
  const { workflowId } = useStore(chat.state);
  const elsewhere = useStore(waiting.state).filter((call) => call.workflowId !== workflowId);
  if (elsewhere.length === 0) return null;
  return (
    <section className="waiting" aria-label={t("waiting.title")} data-testid="waiting">
      <h2>{t("waiting.title")}</h2>
      <ul>
        {elsewhere.map((call) => (
          <li key={`${call.runId} ${call.round} ${call.callId}`} data-testid="waiting-call">
            <details>
              <summary>
                <span className="tool-name">{call.name}</span>
                <span className="waiting-title">{call.title}</span>
                <Icon name="chevron" />
              </summary>
              <a href={routeOf(call.workflowId)}>{t("waiting.open")}</a>
              <pre>{pretty(call.arguments)}</pre>
              <ConsentRequest runId={call.runId} round={call.round} callId={call.callId} origin={call} isWhole />
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}
