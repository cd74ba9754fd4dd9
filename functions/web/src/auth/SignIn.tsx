import { text, useText } from "../i18n/language";
import { useStore } from "../store";
import { LanguageButton, ThemeButton } from "../ui/Preferences";
import mark from "../ui/mark.svg";
import type { Session, SessionState } from "./session";

export function SignIn({ session }: { session: Session }) {
  const t = useText();
  const notice = noticeOf(useStore(session.state));
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <img src={mark} alt="" width="56" height="56" />
        <h1>Werkbank</h1>
        <p>{t("app.tagline")}</p>
        {notice && (
          <p className="notice notice-warning" role="alert">
            {notice}
          </p>
        )}
        <button
          type="button"
          className="button primary large"
          data-testid="sign-in"
          onClick={() => void session.signIn()}
        >
          {t("auth.signIn")}
        </button>
      </div>
      <div className="sign-in-preferences">
        <LanguageButton />
        <ThemeButton />
      </div>
    </main>
  );
}

function noticeOf(state: SessionState): string | null {
  if (state === "failed") return `${text("auth.failed")}. ${text("auth.failedHint")}`;
  if (state === "expired") return `${text("auth.expired")}. ${text("auth.failedHint")}`;
  return null;
}
