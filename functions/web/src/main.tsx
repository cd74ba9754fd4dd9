import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { Session } from "./auth/session";
import { loadConfig } from "./config";
import { language, text } from "./i18n/language";
import "./styles/index.css";
import { CrashScreen, FullPageNotice } from "./ui/CrashScreen";
import { applyTheme } from "./ui/theme";

async function start(root: HTMLElement): Promise<void> {
  document.documentElement.lang = language.get();
  applyTheme();
  try {
    const session = new Session(await loadConfig());
    await session.restore();
    createRoot(root).render(
      <StrictMode>
        <CrashScreen>
          <App session={session} />
        </CrashScreen>
      </StrictMode>,
    );
  } catch {
    createRoot(root).render(<FullPageNotice title={text("app.unavailable")} hint={text("app.unavailableHint")} />);
  }
}

const root = document.getElementById("root");
if (root) void start(root);
