import { Component, type ReactNode } from "react";
import { text } from "../i18n/language";

/** Stands in for a page that broke while rendering: says so and offers to load it anew. Drafts survive that. */
export class CrashScreen extends Component<{ children: ReactNode }, { crashed: boolean }> {
  override state = { crashed: false };

  static getDerivedStateFromError(): { crashed: boolean } {
    return { crashed: true };
  }

  override render(): ReactNode {
    if (!this.state.crashed) return this.props.children;
    return <FullPageNotice title={text("problem.unexpected")} hint={text("problem.unexpectedHint")} />;
  }
}

export function FullPageNotice({ title, hint }: { title: string; hint: string }) {
  return (
    <main className="sign-in">
      <div className="sign-in-card" role="alert">
        <h1>{title}</h1>
        <p>{hint}</p>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {text("app.reload")}
        </button>
      </div>
    </main>
  );
}
