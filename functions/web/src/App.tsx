import { SignIn } from "./auth/SignIn";
import type { Session } from "./auth/session";
import { useStore } from "./store";
import { PromptDialog } from "./ui/PromptDialog";
import { Toasts } from "./ui/Toasts";
import { WorkspacePage } from "./workspace/WorkspacePage";

export function App({ session }: { session: Session }) {
  const state = useStore(session.state);
  return (
    <>
      {state === "signedIn" ? <WorkspacePage session={session} /> : <SignIn session={session} />}
      <PromptDialog />
      <Toasts />
    </>
  );
}
