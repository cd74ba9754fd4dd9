import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { Session } from "./auth/session";
import { loadConfig } from "./config";
import { language, text } from "./i18n/language";
import "./styles/index.css";
import { applyTheme } from "./ui/theme";

async function start(root: HTMLElement): Promise<void> {
  document.documentElement.lang = language.get();
  applyTheme();
  try {
    const session = new Session(await loadConfig());
    await session.restore();
    createRoot(root).render(
      <StrictMode>
        <App session={session} />
      </StrictMode>,
    );
  } catch {
    createRoot(root).render(<Unavailable />);
  }
}

function Unavailable() {
  return (
    <main className="sign-in">
      <div className="sign-in-card" role="alert">
        <h1>{text("app.unavailable")}</h1>
        <p>{text("app.unavailableHint")}</p>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {text("app.reload")}
        </button>
      </div>
    </main>
  );
}

const root = document.getElementById("root");
if (root) void start(root);
