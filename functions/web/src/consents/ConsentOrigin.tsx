import type { TextKey } from "../i18n/dictionary";
import { useText } from "../i18n/language";
import type { Origin } from "../runs/events";
import { Icon } from "../ui/Icon";

/** By what a session's id begins with; what is asked on this page needs no telling. */
const TEXTS: Readonly<Record<string, TextKey>> = {
  teams: "chat.consent.from.teams",
  slack: "chat.consent.from.slack",
  email: "chat.consent.from.email",
  event: "chat.consent.from.event",
  sub: "chat.consent.from.sub",
};

/** Says which session a call comes from, and warns when something from outside has started it. */
export function ConsentOrigin({ origin: { sessionId, trusted } }: { origin: Origin }) {
  const t = useText();
  const key = TEXTS[sessionId.split(/[:_-]/, 1)[0] ?? ""];
  return (
    <>
      {key && (
        <p className="consent-origin" data-testid="consent-origin">
          {t(key)} <code>{sessionId}</code>
        </p>
      )}
      {!trusted && (
        <p className="consent-origin is-untrusted" data-testid="consent-untrusted">
          <Icon name="alert" />
          {t("chat.consent.untrusted")}
        </p>
      )}
    </>
  );
}
